"""Every number a consumer can be fooled by: asked of the brokers, written to none of them."""
