"""What scripts/report is made of: reading documents of hmc, the Gamma method, figures, and the page."""
