"""A strict reader of the HTML pages that coevo writes."""

from html.parser import HTMLParser


class PageReader(HTMLParser):
    """Parses a page, checks that its tags are closed in order, and keeps its texts and tags.

    A subclass names the tags of its page that are never closed.
    """

    void: frozenset[str]

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.scripts, self.styles, self.tags = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        place = {"script": self.scripts, "style": self.styles}
        place.get(self.open[-1] if self.open else "", self.texts).append(data)
