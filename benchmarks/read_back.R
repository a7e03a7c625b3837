# Read files with bnlearn and print what it found, for benchmarks/read_back.py.
#
# The argument is a file with one line for each file to read: its format and its path. The answer
# has one line for each variable: its name, its states, its parents and its probabilities, with the
# child fastest, then the first parent. Texts are in hexadecimal, so that no name can break a line.

suppressPackageStartupMessages(library(bnlearn))

as_hex <- function(texts) {
  if (length(texts) == 0) return("")
  coded <- vapply(enc2utf8(texts), function(x) paste(charToRaw(x), collapse = ""), "")
  paste0("x", coded, collapse = ",")
}

tell <- function(...) cat(..., "\n", sep = "\t")

read_structure <- function(path) {
  text <- sub("\n$", "", readChar(path, file.info(path)$size, useBytes = TRUE))
  Encoding(text) <- "UTF-8"
  dag <- model2network(text)
  for (node in nodes(dag)) tell("node", as_hex(node), "", as_hex(parents(dag, node)), "")
}

read_network <- function(path, read) {
  fitted <- read(path)
  for (node in names(fitted)) {
    one <- fitted[[node]]
    states <- dimnames(one$prob)[[1]]
    numbers <- paste(sprintf("%.17g", as.vector(one$prob)), collapse = ",")
    tell("node", as_hex(node), as_hex(states), as_hex(one$parents), numbers)
  }
}

tell("version", as.character(packageVersion("bnlearn")), R.version$major, R.version$minor)
for (line in readLines(commandArgs(trailingOnly = TRUE)[1])) {
  asked <- strsplit(line, "\t")[[1]]
  tell("file", line)
  # A warning says that something was left out, so it is a refusal too.
  tryCatch(
    switch(asked[1],
      bif = read_network(asked[2], read.bif),
      net = read_network(asked[2], read.net),
      modelstring = read_structure(asked[2])),
    error = function(e) tell("refused", as_hex(conditionMessage(e))),
    warning = function(w) tell("refused", as_hex(conditionMessage(w))))
}
