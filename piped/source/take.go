// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"slices"
)

const (
	// maxMaking bounds the checkouts of one repository that are made at the same time. The mirror is read by one
	// at a time; another one may be looking at what it has written.
	maxMaking = 2
	// maxAhead is the number of checkouts in use from which none is made for later.
	maxAhead = maxIdle
)

// ErrBusy says that nothing was prepared ahead, because others need checkouts now.
var ErrBusy = errors.New("the sources are prepared when they are needed: too many checkouts are in use")

// waiter wants a checkout. It gets one that another caller gives back, or makes one in its turn.
type waiter struct {
	repository, commit string
	// ready gets an unchanged checkout of the commit; the waiter is in no list any more then.
	ready chan *tree
}

// take returns a checkout for the caller alone, who has to give it back. With ahead it is for later: ErrBusy
// when others have to wait or much is in use.
func (s *Store) take(ctx context.Context, repository Repository, commit string, ahead bool) (*tree, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errors.New("prepare source: the store is closed")
	}
	if ahead && (len(s.waiting) > 0 || s.used >= maxAhead) {
		s.mu.Unlock()
		return nil, ErrBusy
	}
	if t := s.unchanged(repository.ID(), commit); t != nil {
		s.used++
		s.mu.Unlock()
		return t, nil
	}
	w := &waiter{repository: repository.ID(), commit: commit, ready: make(chan *tree, 1)}
	s.waiting = append(s.waiting, w)
	turn := s.making[repository.ID()]
	if turn == nil {
		turn = make(chan struct{}, maxMaking)
		s.making[repository.ID()] = turn
	}
	s.mu.Unlock()

	select {
	case t := <-w.ready:
		return t, nil
	case <-ctx.Done():
		if t := s.leave(w); t != nil {
			return nil, errors.Join(context.Cause(ctx), s.give(t))
		}
		return nil, context.Cause(ctx)
	case turn <- struct{}{}:
		defer func() { <-turn }()
		return s.make(ctx, w, repository)
	}
}

// unchanged takes an idle checkout of the commit; nil when there is none. It is called with the lock held.
func (s *Store) unchanged(repository, commit string) *tree {
	for i := len(s.idle) - 1; i >= 0; i-- {
		if t := s.idle[i]; t.repository == repository && t.commit == commit {
			s.idle = slices.Delete(s.idle, i, i+1)
			return t
		}
	}
	return nil
}

// leave ends the wait, and returns what was given to the waiter meanwhile.
func (s *Store) leave(w *waiter) *tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case t := <-w.ready:
		return t
	default:
		s.waiting = slices.DeleteFunc(s.waiting, func(other *waiter) bool { return other == w })
		return nil
	}
}

// make brings a checkout of another commit to the one that is wanted, or makes a new one.
func (s *Store) make(ctx context.Context, w *waiter, repository Repository) (*tree, error) {
	if t := s.leave(w); t != nil {
		return t, nil
	}
	s.mu.Lock()
	t := s.unchanged(w.repository, w.commit)
	s.used++
	if t != nil {
		s.mu.Unlock()
		return t, nil
	}
	if t = s.oldest(repository); t == nil {
		t = s.newTree(w.repository)
	}
	s.mu.Unlock()

	t, err := s.bring(ctx, t, repository, w.commit)
	if err != nil {
		s.mu.Lock()
		s.used--
		s.mu.Unlock()
		return nil, err
	}
	for _, one := range t.left {
		s.logger.Warn("left out of the checkout", "repository", t.repository, "commit", w.commit, "path", one.Path, "reason", one.Reason)
	}
	return t, nil
}

// give takes a checkout back: for the one who has waited for it longest, to keep when nobody does, to remove
// when it has changed or enough are kept.
func (s *Store) give(t *tree) error {
	clean := !t.private && t.print.matches(t.dir)
	s.mu.Lock()
	var superfluous *tree
	i := slices.IndexFunc(s.waiting, func(w *waiter) bool { return w.repository == t.repository && w.commit == t.commit })
	switch {
	case !clean || s.closed:
		superfluous = t
		s.used--
	case i >= 0:
		s.waiting[i].ready <- t // has room: a waiter in the list has got none
		s.waiting = slices.Delete(s.waiting, i, i+1)
	default:
		s.used--
		if s.idle = append(s.idle, t); len(s.idle) > maxIdle {
			superfluous = s.idle[0]
			s.idle = slices.Delete(s.idle, 0, 1)
		}
	}
	s.mu.Unlock()
	if superfluous != nil {
		return s.remove(superfluous)
	}
	return nil
}
