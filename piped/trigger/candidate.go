// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/removal"
)

// candidate is an application together with what Git says of it, for one pass.
type candidate struct {
	application *model.Application
	repository  *repository
	snapshot    snapshot
	// config is nil when err says why the application cannot be deployed.
	config *config.Application
	err    error
	// deployed is set when this pass has created a deployment.
	deployed bool
	// removal is what becomes of an application that is gone from Git; nil when it stays as it is.
	removal *plannedRemoval
}

// candidates are the applications whose repository could be read, in the control plane's order.
func (t *Trigger) candidates() []*candidate {
	var list []*candidate
	for _, a := range t.applications.list {
		id := a.GetGitPath().GetRepo().GetId()
		now, known := t.snapshots[id]
		if !known || now.head.Hash == "" {
			continue
		}
		c := &candidate{application: a, repository: t.repositories[id], snapshot: now}
		switch f := now.files[configFileOf(a)]; {
		case f == nil:
			c.err = &MissingError{
				File: configFileOf(a), Commit: now.head.Hash, Branch: c.repository.git.Branch(),
				Application: a.GetName(), awaited: t.removals.waits[a.GetId()],
			}
		case f.err != nil:
			c.err = f.err
		default:
			c.config = f.application
		}
		list = append(list, c)
	}
	return list
}

// MissingError says that the configuration of a registered application is not in Git any more.
type MissingError struct {
	// File is relative to the repository.
	File, Commit, Branch string
	// Application is the name.
	Application string
	awaited
	// failed is the removal that was tried last; without an outcome when it has not failed.
	failed failedRemoval
}

// failedRemoval is a deployment that was to remove an application. Other deployments have no outcome.
type failedRemoval struct{ id, outcome, reason string }

// awaited says what a removal waits for.
type awaited struct {
	// WaitsFor names the applications whose deployments a removal waits for; empty when it does not wait.
	WaitsFor []string
	// Idle are those of them that nothing deploys: their deployment has failed or was cancelled.
	Idle []string
}

func (w awaited) equal(other awaited) bool {
	return slices.Equal(w.WaitsFor, other.WaitsFor) && slices.Equal(w.Idle, other.Idle)
}

// Error returns the reason and the next step in one line.
func (e *MissingError) Error() string { return e.Reason() + ": " + e.NextStep() }

// Reason says what is missing where.
func (e *MissingError) Reason() string {
	reason := fmt.Sprintf("%s is not in Git any more, at commit %s of branch %s, so nothing deploys the application",
		e.File, e.Commit, e.Branch)
	if len(e.WaitsFor) > 0 {
		reason += fmt.Sprintf("; its removal waits until %s deployed, since what it has deployed may move there",
			are(e.WaitsFor))
	} else if e.failed.outcome != "" {
		reason += fmt.Sprintf("; its removal by deployment %s %s: %s", e.failed.id, e.failed.outcome, e.failed.reason)
	}
	return reason
}

// NextStep says what to do about it.
func (e *MissingError) NextStep() string {
	if len(e.Idle) > 0 {
		return fmt.Sprintf("nothing deploys %[1]s now: deploy it with: pipedeck sync %[1]s; or do not wait for it: "+
			"pipedeck remove %[2]s --cascade", e.Idle[0], e.Application)
	}
	if len(e.WaitsFor) > 0 {
		return "see how it goes: pipedeck history " + e.WaitsFor[0] +
			"; if it waits for an approval: pipedeck approve " +
			e.WaitsFor[0]
	}
	if e.failed.outcome != "" {
		return fmt.Sprintf("see why: pipedeck logs %[1]s; then try again: pipedeck remove %[2]s --cascade; or leave "+
			"what still runs: pipedeck remove %[2]s --orphan", e.failed.id, e.Application)
	}
	return "add the file again, or remove the application with: pipedeck remove " + e.Application
}

// shortReason is what lists show of the error of a candidate.
func shortReason(err error) string {
	if missing, is := errors.AsType[*MissingError](err); is {
		short := removal.Orphaned + missing.File + " is not in Git any more"
		if len(missing.WaitsFor) > 0 {
			short += "; its removal waits until " + are(missing.WaitsFor) + " deployed"
		} else if missing.failed.outcome != "" {
			short += "; its removal " + missing.failed.outcome + ": " + missing.failed.reason
		}
		return short
	}
	return firstLine(err)
}

// maxWaitsFor bounds the applications that a reason names.
const maxWaitsFor = 3

// are is the beginning of a sentence about applications: "a and b are".
func are(names []string) string {
	switch n := len(names); {
	case n == 1:
		return names[0] + " is"
	case n > maxWaitsFor:
		return fmt.Sprintf("%s and %d more are", strings.Join(names[:maxWaitsFor], ", "), n-maxWaitsFor)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " are"
}

// mistakeOf is why an application cannot be deployed, without what changes while it stays like that.
func mistakeOf(err error) string {
	if missing, is := errors.AsType[*MissingError](err); is {
		still := *missing
		still.awaited, still.failed = awaited{}, failedRemoval{} // the deployment itself is notified of
		return still.Error()
	}
	return err.Error()
}

// Configured is an application as the head of its branch configures it.
type Configured struct {
	ID, Name string
	// Invalid says why the configuration cannot be used, which keeps the application from being deployed; nil when it
	// can. It is [config.Errors] for mistakes in the file, and [*MissingError] without a file.
	Invalid error
	// Unread are the keys that nothing reads. The application is deployed as if they were not there.
	Unread config.Errors
}

func configured(candidates []*candidate) (list []Configured) {
	for _, c := range candidates {
		one := Configured{ID: c.application.GetId(), Name: c.application.GetName(), Invalid: c.err}
		if c.config != nil {
			one.Unread = c.config.Unread
		}
		list = append(list, one)
	}
	return list
}

func find(candidates []*candidate, application string) *candidate {
	i := slices.IndexFunc(candidates, func(c *candidate) bool { return c.application.GetId() == application })
	if i < 0 {
		return nil
	}
	return candidates[i]
}
