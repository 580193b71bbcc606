"""Names of documents and files: safe to create, unlike others, remembered. Nothing is opened here."""
