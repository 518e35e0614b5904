// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// Options say what a store starts with.
type Options struct {
	// ProjectID is the one project that everything belongs to.
	ProjectID string
	// OwnPiped is the id of the piped that the environment runs itself; empty for none.
	OwnPiped string
	// Flags follow the commands in next steps and reasons, so that they find this environment; empty when they do
	// without.
	Flags string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Limits bounds the store; the zero value means the defaults.
	Limits Limits
}

// Store is the state of a control plane: its parts, and what concerns several of them. Use New.
type Store struct {
	Environment  *Environment
	Pipeds       *Pipeds
	PluginCalls  *PluginCalls
	Reruns       *Reruns
	Faults       *Faults
	Applications *Applications
	LiveStates   *LiveStates
	Objects      *Objects
	Events       *Events
	Commands     *Commands
	Deployments  *Deployments

	ledger  *ledger
	signals *signals
	chains  *chains
	// locks are those of all parts, in the order in which a caller may hold several of them: mu comes first, and a part
	// calls only parts after it while it holds its own lock.
	locks []sync.Locker

	mu sync.Mutex
	// identities are of the clusters and of the repository by their names here, as they were seen last.
	identities map[string]string
	// unread are identities that came before the history could be read.
	unread map[string]string
}

// New returns an empty store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Limits = o.Limits.withDefaults()
	ledger := newLedger(o)
	signals, offers := newSignals(), newOffers()
	environment := newEnvironment(ledger, o.OwnPiped)
	applications := newApplications(ledger, offers, signals)
	pipeds := newPipeds(ledger, o.OwnPiped, offers, signals, applications, environment)
	chains := newChains(ledger, applications, signals)
	s := &Store{
		Environment:  environment,
		Pipeds:       pipeds,
		PluginCalls:  newPluginCalls(pipeds),
		Reruns:       newReruns(pipeds),
		Faults:       newFaults(pipeds),
		Applications: applications,
		LiveStates:   newLiveStates(applications),
		Objects:      newObjects(ledger, applications),
		Events:       newEvents(ledger, environment, signals),
		Commands:     newCommands(ledger, pipeds, chains, signals),
		ledger:       ledger,
		signals:      signals,
		chains:       chains,
		identities:   map[string]string{},
		unread:       map[string]string{},
	}
	s.Deployments = newDeployments(ledger, applications, s.Events, s.Commands, chains)
	s.locks = []sync.Locker{
		&s.mu, &s.Deployments.mu, &s.Commands.mu, &s.chains.mu, &s.Events.mu, &s.Objects.mu, &s.LiveStates.mu,
		&s.Pipeds.mu,
		&s.Applications.mu, &s.Environment.mu,
	}
	return s
}

// Now returns the store's time.
func (s *Store) Now() time.Time { return s.ledger.now() }

// DeleteApplication removes an application with all that belongs to it. It stays removed, although Git still holds it,
// until a user adds it again.
func (s *Store) DeleteApplication(id string) error {
	if err := s.Applications.remove(id); err != nil {
		return err
	}
	s.removeBelongings(id) // after the application: what is reported from now on is refused
	return nil
}

func (s *Store) removeBelongings(application string) {
	s.LiveStates.remove(application)
	s.Objects.remove(application)
}

// Subscribe returns a queue of the changes from now on, and the present state as changes to begin
// with. With logs, the state holds the logs of running stages and the queue every new block.
func (s *Store) Subscribe(logs bool) (*Subscription, []Change) {
	defer s.freeze()()
	sub := &Subscription{store: s, logs: logs, wake: make(chan struct{}, 1)}
	s.ledger.feed.add(sub)
	return sub, s.state(logs)
}

// resync empties the queue of a watcher and returns the present state, from which the queue goes on.
func (s *Store) resync(sub *Subscription) []Change {
	defer s.freeze()()
	sub.clear()
	return s.state(sub.logs)
}

// KeepIn has every change kept in the journal from now on; nil ends that.
func (s *Store) KeepIn(j Journal) { s.ledger.keepIn(j) }

// Kept emits all that a journal should hold, each object once: what others refer to comes first. Nothing changes
// meanwhile.
func (s *Store) Kept(emit func(journal.Record)) {
	defer s.freeze()()
	for name, identity := range s.identities {
		emit(journal.Record{Kind: journal.Cluster, ID: name, Name: identity})
	}
	s.Pipeds.records(emit)
	s.Applications.records(emit)
	s.chains.records(emit)
	s.Deployments.records(emit)
	s.Objects.records(emit)
	s.Events.records(emit)
	s.Commands.records(emit)
}

// freeze stops all changes until the function that it returns is called.
func (s *Store) freeze() (thaw func()) {
	for _, lock := range s.locks {
		lock.Lock()
	}
	return func() {
		for _, lock := range slices.Backward(s.locks) {
			lock.Unlock()
		}
	}
}

// state returns the present state as changes: what others refer to comes first. The store is frozen.
func (s *Store) state(logs bool) []Change {
	changes := slices.Concat(s.Environment.state(), s.Pipeds.state(), s.Applications.state(), s.Deployments.state(logs))
	now := s.ledger.now()
	for i := range changes {
		changes[i].Time = now
	}
	return changes
}

func newID() string { return uuid.NewString() }

// sorted returns the values of a map in an order.
func sorted[T any](m map[string]T, compare func(a, b T) int) []T {
	all := make([]T, 0, len(m))
	for _, v := range m {
		all = append(all, v)
	}
	slices.SortFunc(all, compare)
	return all
}
