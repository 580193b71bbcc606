"""What clients send: forms, JSON, plain bytes, and the options among them. Bounded, and typed once."""
