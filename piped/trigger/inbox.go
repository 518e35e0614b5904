// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"sync"

	"github.com/pipedeck/pipedeck/api/model"
)

// news is what has happened since the last pass.
type news struct {
	applications bool
	newCommands  bool
	commands     []*model.Command
	// ended are the ids of applications of which a deployment has ended.
	ended []string
}

// inbox keeps news for the next pass and wakes who makes it. Any goroutine may leave news.
type inbox struct {
	wake chan struct{}

	mu   sync.Mutex
	news news
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// nudge asks for a pass. It never blocks.
func (i *inbox) nudge() {
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// applicationsChanged leaves the news that the list of the applications has changed.
func (i *inbox) applicationsChanged() {
	i.put(func(n *news) { n.applications = true })
}

// commandsListed leaves the commands that are to be handled; they replace those of before.
func (i *inbox) commandsListed(commands []*model.Command) {
	i.put(func(n *news) { n.commands, n.newCommands = commands, true })
}

// deploymentEnded leaves the news that a deployment of an application has ended.
func (i *inbox) deploymentEnded(application string) {
	i.put(func(n *news) { n.ended = append(n.ended, application) })
}

func (i *inbox) put(change func(*news)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(&i.news)
	i.nudge()
}

// take returns the news and leaves none.
func (i *inbox) take() news {
	i.mu.Lock()
	defer i.mu.Unlock()
	got := i.news
	i.news = news{}
	return got
}
