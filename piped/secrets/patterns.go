// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minValue is the length of the shortest value that is masked, in bytes: shorter ones stand in every
	// other log by chance.
	minValue = window
	// minPart is the same for a part of a value: one of its lines, or what follows a key in a line.
	minPart = 8
	// minAssignment is the length of a line "key: value" that is masked as a whole.
	minAssignment = 16
	// chunk is what longer patterns are cut to, so that comparing is cheap and a value that a program
	// wraps is masked for the most part. The last chunk may be up to maxPattern.
	chunk      = 32
	maxPattern = chunk + minPart
)

// pattern is a text to find, of window to maxPattern bytes. Where a start is cut off, its beginning is
// masked too: that is the value itself, not another form of it.
type pattern struct {
	text  string
	start bool
}

// Maskable reports whether a value is long enough to be masked.
func Maskable(value string) bool { return len(strings.TrimSpace(value)) >= minValue }

// patternsOf lists what is to be masked for a value.
func patternsOf(value string) []pattern {
	c := &collector{seen: map[string]bool{}}
	c.value(value)
	// pipectl encrypt --use-base64-encoding: programs will show the decoded form.
	if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value)); err == nil && isText(decoded) {
		c.value(string(decoded))
	}
	return c.patterns
}

type collector struct {
	patterns []pattern
	seen     map[string]bool
}

func (c *collector) value(value string) {
	if !Maskable(value) {
		return
	}
	trimmed := strings.TrimSpace(value)
	lines := strings.FieldsFunc(trimmed, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 1 {
		c.forms(trimmed)
	} else {
		for _, line := range lines {
			c.line(strings.TrimSpace(line))
		}
	}
	c.base64(trimmed)
	if trimmed != value {
		c.base64(value)
	}
}

// line adds one line of a value with several. The frame of a PEM block is no secret, and a line such as
// "kind: Secret" would hide half of a log: of assignments, only long ones and long values count.
func (c *collector) line(line string) {
	if strings.HasPrefix(line, "-----BEGIN ") || strings.HasPrefix(line, "-----END ") {
		return
	}
	at := strings.IndexAny(strings.TrimRight(line, "="), ":=") // base64 ends in =
	if at < 0 {
		if len(line) >= minPart {
			c.forms(line)
		}
		return
	}
	if len(line) >= minAssignment {
		c.forms(line)
	}
	if part := strings.Trim(line[at+1:], " \t\"',;"); len(part) >= minPart {
		c.forms(part)
	}
}

// forms adds a line as it is and as JSON and URLs would show it.
func (c *collector) forms(line string) {
	c.cut(line, true)
	if data, err := json.Marshal(line); err == nil {
		c.cut(string(data[1:len(data)-1]), false)
	}
	c.cut(jsonText(line), false)
	c.cut(url.QueryEscape(line), false)
	c.cut(url.PathEscape(line), false)
}

// jsonText is the JSON form that leaves <, > and & as they are.
func jsonText(line string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(line) != nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// base64 adds the base64 of the value, also as it stands within the base64 of a larger text, whose three
// bytes to four letters may begin at the value's first, second or third byte.
func (c *collector) base64(value string) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := encoding.EncodeToString([]byte(value))
		c.cut(whole, false)
		for _, width := range []int{64, 76} { // as openssl and base64 break lines
			for rest := whole; len(rest) > width; rest = rest[width:] {
				c.cut(rest[:width], false)
			}
			c.cut(whole[(len(whole)-1)/width*width:], false)
		}
		for offset := range 3 {
			text := encoding.EncodeToString(append(make([]byte, offset), value...))
			from := (offset*8 + 5) / 6 // letters that hold bits of what is before the value
			to := (offset + len(value)) * 8 / 6
			c.cut(text[from:to], false)
		}
	}
}

// cut adds a text in chunks.
func (c *collector) cut(text string, start bool) {
	for len(text) > maxPattern {
		end := chunk
		for end > minValue && !utf8.RuneStart(text[end]) {
			end-- // masking half a character would leave an invalid text
		}
		c.add(text[:end], start)
		text = text[end:]
	}
	c.add(text, start)
}

func (c *collector) add(text string, start bool) {
	if len(text) < minValue || c.seen[text] {
		return
	}
	c.seen[text] = true
	c.patterns = append(c.patterns, pattern{text, start})
}

func isText(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	return strings.IndexFunc(string(data), func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) < 0
}
