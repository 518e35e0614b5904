// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/pipedeck/pipedeck/tui/page"
)

// Share serves people who watch. Its methods may be called from any goroutine; those of a nil Share do nothing.
type Share struct {
	stop    context.CancelFunc
	serving sync.WaitGroup
	web     *page.Server
	ssh     *terminals
	shared  []Address
	news    news
}

// Address is one way to watch.
type Address struct {
	// Part names it as components are named: web or ssh; Name is that for people.
	Part, Name string
	// Text is what a watcher needs: the address with the token in its fragment, or a command.
	Text string
	// Code is what a QR code of it has.
	Code string
	// Notes say more, a line each, such as the fingerprint of the certificate and who can watch.
	Notes []string
	// Local: other machines, such as phones, do not reach it.
	Local bool
}

// Detail is what a program needs to watch: of SSH also the password and the key of the host.
func (a Address) Detail() string {
	if a.Part == "web" {
		return a.Text
	}
	return strings.Join(append([]string{a.Text}, a.Notes...), "; ")
}

// Shown is what everyone may read: Text without the token.
func (a Address) Shown() string {
	shown, _, _ := strings.Cut(a.Text, "#token=")
	return shown
}

// With is the word before Text in a sentence.
func (a Address) With() string {
	if a.Part == "web" {
		return "at"
	}
	return "with"
}

// Addresses are the ways to watch.
func (s *Share) Addresses() []Address {
	if s == nil {
		return nil
	}
	all := slices.Clone(s.shared)
	if s.ssh != nil {
		all = append(all, s.ssh.address())
	}
	return all
}

// Watching is how many watch at present.
func (s *Share) Watching() (count int) {
	if s != nil && s.web != nil {
		count, _ = s.web.Watching()
	}
	if s != nil && s.ssh != nil {
		terminals, _ := s.ssh.Watching()
		count += terminals
	}
	return count
}

// Close ends what is served and returns when nothing of it runs any more.
func (s *Share) Close() {
	if s == nil {
		return
	}
	s.stop()
	s.serving.Wait()
}
