// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	_ "embed"
	"strings"
	"sync"
)

// wordList has the words of the texts of this package, one on each line.
//
//go:embed words.txt
var wordList string

var ownWords = sync.OnceValue(func() map[string]bool {
	own := map[string]bool{}
	for word := range strings.FieldsSeq(wordList) {
		own[word] = true
	}
	return own
})

// OwnWord is whether a text is a word that the cases use. A mask that hides such a word hides parts of what they say.
func OwnWord(text string) bool { return ownWords()[text] }
