"""What is read from elsewhere: addresses, object stores, the Hub. It is brought to this machine first.

What is in a file is not looked at here.
"""
