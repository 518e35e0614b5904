// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Block is what stands between two fences of a page.
type Block struct {
	Page    string // the path of the page, as given to Read
	Line    int    // of the opening fence, from 1
	Section string // the heading of the second level before it; "" before the first one
	// Language is the first word behind the opening fence, Mark what follows it.
	Language, Mark string
	Text           string // the lines, each with its end, without the indentation of the fence
}

// Place is where the block begins, as FILE:LINE.
func (b Block) Place() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// unmarked begins a block in another form: indented, between other fences, in a quotation or in HTML.
var unmarked = regexp.MustCompile("^(    |\t|\\s*(~~~|````|> *```|<pre))")

// Read returns the blocks of a page in their order. Blocks in other forms than between fences of ``` have no mark: they
// are errors, and so are fences that do not end.
func Read(path string) ([]Block, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var blocks []Block
	var open *Block
	indentation, section, line := "", "", 0
	for text := range strings.Lines(string(data)) {
		line++
		trimmed := strings.TrimLeft(text, " ")
		info, fence := strings.CutPrefix(strings.TrimSpace(text), "```")
		switch {
		case open == nil && unmarked.MatchString(text):
			return nil, fmt.Errorf("%s:%d: this block cannot have a mark: put it between lines of ```", path, line)
		case fence && open == nil:
			language, mark, _ := strings.Cut(info, " ")
			open = &Block{Page: path, Line: line, Section: section, Language: language, Mark: mark}
			indentation = text[:len(text)-len(trimmed)]
		case fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.Text += strings.TrimPrefix(text, indentation)
		case strings.HasPrefix(text, "## "):
			section = strings.TrimSpace(text[len("## "):])
		default:
			if language, command, found := comment(text); found {
				if language != Before && language != Until {
					return nil, fmt.Errorf("%s:%d: the stories know the comments before and until, not %q", path, line,
						language)
				}
				b := Block{Page: path, Line: line, Section: section, Language: language, Text: command}
				blocks = append(blocks, b)
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block does not end", open.Place())
	}
	return blocks, nil
}
