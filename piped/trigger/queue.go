// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"iter"

	"github.com/pipedeck/pipedeck/api/model"
)

// commands are the commands to sync that the control plane lists.
type commands struct {
	listed []*model.Command
	done   map[string]bool // answered ones that are still listed
	looks  map[string]int  // the look that a command waits for
}

func newCommands() *commands { return &commands{done: map[string]bool{}, looks: map[string]int{}} }

// replace takes a new list, and forgets what is known of commands that it lacks.
func (c *commands) replace(list []*model.Command) {
	done, looks := map[string]bool{}, map[string]int{}
	for _, command := range list {
		if id := command.GetId(); c.done[id] {
			done[id] = true
		} else if look, asked := c.looks[id]; asked {
			looks[id] = look
		}
	}
	c.listed, c.done, c.looks = list, done, looks
}

// open yields the commands that wait for an answer, in the order of the list.
func (c *commands) open() iter.Seq[*model.Command] {
	return func(yield func(*model.Command) bool) {
		for _, command := range c.listed {
			if !c.done[command.GetId()] && !yield(command) {
				return
			}
		}
	}
}

// answered takes the command out of those that wait: the control plane has its answer, and may list it until then.
func (c *commands) answered(command *model.Command) { c.done[command.GetId()] = true }

// look returns the number of the look at a repository that the command waits for. The first call for a command asks for
// that look.
func (c *commands) look(command *model.Command, ask func() int) int {
	number, asked := c.looks[command.GetId()]
	if !asked {
		number = ask()
		c.looks[command.GetId()] = number
	}
	return number
}
