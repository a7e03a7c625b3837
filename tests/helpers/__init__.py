"""What tests share: tables, networks, problems, clusters, suites."""
