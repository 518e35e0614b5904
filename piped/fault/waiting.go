// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// maxWaiting bounds the rules that wait at the same time.
const maxWaiting = 100

// Add adds a rule while piped runs, for the stages of an application; empty is all. The error is a *SyntaxError, or
// another one when the rule cannot be taken.
func (s *Set) Add(text, application string) (*agentv1.Fault, error) {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return nil, errors.New("a rule is one line of text")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	waiting := 0
	for _, r := range s.rules { // those that an attempt under way has need not come back
		if r.waits() {
			waiting++
		}
	}
	if waiting >= maxWaiting {
		return nil, fmt.Errorf("%d faults wait already; remove some first", waiting)
	}
	r, err := s.add(text, application)
	if err != nil {
		return nil, err
	}
	if application != "" && r.target == ControlPlane {
		s.rules = s.rules[:len(s.rules)-1]
		return nil, fmt.Errorf("faults of %s are for all applications", ControlPlane)
	}
	s.notify()
	return r.waiting(), nil
}

// add adds a rule; s.mu is held, or no one else has the set.
func (s *Set) add(text, application string) (*rule, error) {
	r, err := parseRule(text)
	if err != nil {
		return nil, err
	}
	s.count++
	r.id, r.application = s.run+"-"+strconv.Itoa(s.count), application
	s.rules = append(s.rules, r)
	return r, nil
}

// Remove removes the rules with these ids, without any all, and returns those that waited. What happens in an attempt
// already goes on.
func (s *Set) Remove(ids []string) (removed []*agentv1.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	s.rules = slices.DeleteFunc(s.rules, func(r *rule) bool {
		if len(ids) > 0 && !slices.Contains(ids, r.id) {
			return false
		}
		if r.waits() {
			removed = append(removed, r.waiting())
		}
		return true
	})
	s.notify()
	return removed
}

// List returns the rules of which something has not happened yet; none of no Set.
func (s *Set) List() (all []*agentv1.Fault) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rules {
		if r.waits() {
			all = append(all, r.waiting())
		}
	}
	return all
}

// Changed returns a channel that is closed when List may have another answer.
func (s *Set) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// notify says that other rules wait; s.mu is held.
func (s *Set) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// forget removes rules that are over; s.mu is held. One whose actions may be given back stays.
func (s *Set) forget() {
	s.rules = slices.DeleteFunc(s.rules, func(r *rule) bool { return !r.waits() && r.lent == 0 })
}

// waits reports whether something of the rule has not happened yet.
func (r *rule) waits() bool {
	return slices.ContainsFunc(r.actions, func(a *action) bool { return a.left > 0 })
}

// waiting is what has not happened yet of a rule.
func (r *rule) waiting() *agentv1.Fault {
	var left []string
	for _, a := range r.actions {
		switch {
		case a.left == 0:
		case r.target == ControlPlane && a.kind == unavailable: // each report uses up one
			left = append(left, unavailable+" "+strconv.Itoa(a.number))
		case a.left > 1:
			left = append(left, strconv.Itoa(a.left)+"*"+a.text)
		default:
			left = append(left, a.text)
		}
	}
	f := &agentv1.Fault{Id: r.id, Rule: r.text + ": " + strings.Join(left, "; "), ApplicationId: r.application}
	switch r.target {
	case ControlPlane:
	case Cluster:
		f.Stage = r.stage
	default:
		f.Stage = r.target
	}
	return f
}
