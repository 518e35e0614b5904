// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"crypto/rand"
	"crypto/subtle"
	"strings"
	"sync"
)

// letters are those of a password: 32 that are not taken for each other.
const letters = "abcdefghijkmnpqrstuvwxyz23456789"

// A password has groups of letters with 5 bits each: 125 bits.
const (
	groups    = 5
	groupSize = 5
)

// password lets one watcher in, and is another one then.
type password struct {
	mu   sync.Mutex
	text string
}

func newPassword() *password { return &password{text: random()} }

// random returns a password such as "abcde-fghij-kmnpq-rstuv-wxyz2".
func random() string {
	bytes := make([]byte, groups*groupSize)
	_, _ = rand.Read(bytes) // it never fails
	var b strings.Builder
	for i, one := range bytes {
		if i > 0 && i%groupSize == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(letters[int(one)%len(letters)])
	}
	return b.String()
}

func (p *password) current() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text
}

// take reports whether given is the password, which is used up then. Case, hyphens and blanks do not matter.
func (p *password) take(given string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if subtle.ConstantTimeCompare([]byte(bare(given)), []byte(bare(p.text))) != 1 {
		return false
	}
	p.text = random()
	return true
}

func bare(password string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(password))
}
