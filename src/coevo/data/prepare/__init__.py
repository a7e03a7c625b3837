"""Prepare raw columns and rows: numbers, dates, labels of missing values, copies, totals."""
