// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"slices"
	"time"
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
	content
	// ready gets an unchanged checkout; the waiter is in no list any more then.
	ready chan *tree
}

// maker is the making of a repository's checkouts.
type maker struct {
	// turns has room for those that are made at the same time.
	turns chan struct{}
	// cost is what the last one took.
	cost time.Duration
}

// take returns a checkout for the caller alone, who has to give it back. With ahead it is for later: ErrBusy
// when others have to wait or much is in use.
func (s *Store) take(ctx context.Context, repository Repository, commit string, ahead bool) (*tree, error) {
	want := content{repository.ID(), commit}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errors.New("prepare source: the store is closed")
	}
	if ahead && (len(s.waiting) > 0 || s.used >= maxAhead) {
		s.mu.Unlock()
		return nil, ErrBusy
	}
	if t := s.unchanged(want); t != nil {
		s.used++
		s.held[want]++
		s.mu.Unlock()
		return t, nil
	}
	w := &waiter{content: want, ready: make(chan *tree, 1)}
	s.waiting = append(s.waiting, w)
	m := s.makers[want.repository]
	if m == nil {
		m = &maker{turns: make(chan struct{}, maxMaking)}
		s.makers[want.repository] = m
	}
	var patience time.Duration
	if s.held[want] > 0 {
		patience = m.cost
	}
	s.mu.Unlock()

	if t, err := s.await(ctx, w, patience); t != nil || err != nil {
		return t, err
	}
	select {
	case t := <-w.ready:
		return t, nil
	case <-ctx.Done():
		return nil, s.desert(ctx, w)
	case m.turns <- struct{}{}:
		defer func() { <-m.turns }()
		return s.make(ctx, w, m, repository)
	}
}

// await waits for a checkout in use to be given back, no longer than it would take to make another: then at most
// twice as much time is spent as by someone who knew how long it is in use.
func (s *Store) await(ctx context.Context, w *waiter, patience time.Duration) (*tree, error) {
	if patience <= 0 {
		return nil, nil
	}
	select {
	case t := <-w.ready:
		return t, nil
	case <-ctx.Done():
		return nil, s.desert(ctx, w)
	case <-s.options.Clock.After(patience):
		return nil, nil
	}
}

// unchanged takes an idle checkout; nil when there is none. It is called with the lock held.
func (s *Store) unchanged(want content) *tree {
	for i := len(s.idle) - 1; i >= 0; i-- {
		if t := s.idle[i]; t.content == want {
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

// desert ends the wait of a caller whose context has ended.
func (s *Store) desert(ctx context.Context, w *waiter) error {
	err := context.Cause(ctx)
	if t := s.leave(w); t != nil {
		return errors.Join(err, s.give(t))
	}
	return err
}

// make brings a checkout of another commit to the one that is wanted, or makes a new one.
func (s *Store) make(ctx context.Context, w *waiter, m *maker, repository Repository) (*tree, error) {
	if t := s.leave(w); t != nil {
		return t, nil
	}
	s.mu.Lock()
	s.used++
	t := s.unchanged(w.content)
	if t != nil {
		s.held[w.content]++
		s.mu.Unlock()
		return t, nil
	}
	if t = s.oldest(repository); t == nil {
		t = s.newTree(w.repository)
	}
	s.mu.Unlock()

	began := s.options.Clock.Now()
	t, err := s.bring(ctx, t, repository, w.commit)
	s.mu.Lock()
	if err != nil {
		s.used--
		s.mu.Unlock()
		return nil, err
	}
	s.held[w.content]++
	m.cost = s.options.Clock.Now().Sub(began)
	s.mu.Unlock()
	for _, one := range t.left {
		s.logger.Warn(
			"left out of the checkout", "repository", t.repository, "commit", w.commit, "path", one.Path, "reason",
			one.Reason,
		)
	}
	return t, nil
}

// give takes a checkout back: for the one who has waited for it longest, to keep when no one does, to remove
// when it has changed or enough are kept.
func (s *Store) give(t *tree) error {
	clean := !t.private && t.print.matches()
	s.mu.Lock()
	var superfluous *tree
	i := slices.IndexFunc(s.waiting, func(w *waiter) bool { return w.content == t.content })
	switch {
	case !clean || s.closed:
		superfluous = t
		s.release(t)
	case i >= 0:
		s.waiting[i].ready <- t // has room: a waiter in the list has got none
		s.waiting = slices.Delete(s.waiting, i, i+1)
	default:
		s.release(t)
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

// release counts a checkout that no one has any more. It is called with the lock held.
func (s *Store) release(t *tree) {
	s.used--
	if s.held[t.content]--; s.held[t.content] == 0 {
		delete(s.held, t.content)
	}
}
