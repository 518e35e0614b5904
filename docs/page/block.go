// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"os"
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

// Read returns the blocks of a page in their order. Blocks that are indented in place of fenced have no mark: they are
// errors, and so are fences that do not end.
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
		case fence && open == nil:
			language, mark, _ := strings.Cut(info, " ")
			open = &Block{Page: path, Line: line, Section: section, Language: language, Mark: mark}
			indentation = text[:len(text)-len(trimmed)]
		case fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.Text += strings.TrimPrefix(text, indentation)
		case strings.HasPrefix(text, "    ") || strings.HasPrefix(text, "\t"):
			return nil, fmt.Errorf("%s:%d: an indented block says nothing about itself: put it between fences", path, line)
		case strings.HasPrefix(text, "## "):
			section = strings.TrimSpace(text[len("## "):])
		default:
			if language, command, found := comment(text); found {
				blocks = append(blocks, Block{Page: path, Line: line, Section: section, Language: language, Text: command})
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block does not end", open.Place())
	}
	return blocks, nil
}
