// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync"
	"time"

	"github.com/google/uuid"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// Options say what a store starts with.
type Options struct {
	// ProjectID is the one project that everything belongs to.
	ProjectID string
	// OwnPiped is the id of the piped that the environment runs itself; empty for none.
	OwnPiped string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Limits bounds the store; the zero value means the defaults.
	Limits Limits
}

// Store is the state of a control plane. Use New.
type Store struct {
	project string
	// ownPiped is the id of the environment's own piped, ownPID its process, 0 while that is not known.
	ownPiped string
	ownPID   int
	now      func() time.Time
	limits   Limits

	mu          sync.Mutex
	environment *deckv1.Environment
	components  map[string]*deckv1.Component
	problems    map[string]*deckv1.Problem // by id
	// When the pipeds were looked at last, and since when without a pause.
	checkedPipeds, listening time.Time
	pipeds                   map[string]*piped
	applications             map[string]*application
	index                    applicationIndex
	deployments              map[string]*deployment
	// open are the deployments of each piped that have not ended, the oldest first.
	open map[string][]*deployment
	// Completed deployments, the one that ended first in front.
	completed []*deployment
	commands  commandBook
	// Oldest first.
	events []*model.Event
	// eventCommits are the commits that caused events, by the event's id.
	eventCommits map[string]*model.Commit
	chains       map[string]*chain
	chainOrder   []string
	objects      map[objectKey][]byte
	objectBytes  int
	analyses     map[string]*model.AnalysisResult
	logBytes     int
	packer       packer
	sequence     int
	watchers     map[*Subscription]struct{}
	// clusters are their own identities by their names here, as they were seen last.
	clusters map[string]string
	// recognised are identities that came before the history could be read.
	recognised map[string]string
	orphans    orphans
	keep       Journal // nil for nowhere
}

// New returns an empty store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{
		project:      o.ProjectID,
		ownPiped:     o.OwnPiped,
		now:          o.Now,
		limits:       o.Limits.withDefaults(),
		components:   map[string]*deckv1.Component{},
		problems:     map[string]*deckv1.Problem{},
		pipeds:       map[string]*piped{},
		applications: map[string]*application{},
		index:        newApplicationIndex(),
		open:         map[string][]*deployment{},
		deployments:  map[string]*deployment{},
		commands:     commandBook{byID: map[string]*model.Command{}},
		eventCommits: map[string]*model.Commit{},
		chains:       map[string]*chain{},
		objects:      map[objectKey][]byte{},
		analyses:     map[string]*model.AnalysisResult{},
		watchers:     map[*Subscription]struct{}{},
		clusters:     map[string]string{},
		recognised:   map[string]string{},
	}
}

// ProjectID returns the project that everything belongs to.
func (s *Store) ProjectID() string { return s.project }

// Now returns the store's time.
func (s *Store) Now() time.Time { return s.now() }

func newID() string { return uuid.NewString() }
