// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"encoding/hex"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// PipeCD v1: a piped counts as offline when nothing was heard from it for this long.
const onlineFor = 2 * time.Minute

// KeyHash is the SHA-256 of a secret.
type KeyHash [32]byte

// Pipeds are the pipeds that may call, with their plugins and whether they do call.
type Pipeds struct {
	ledger       *ledger
	own          string // the id of the environment's own piped
	offers       *offers
	signals      *signals
	applications *Applications
	environment  *Environment

	mu   sync.Mutex
	byID map[string]*piped
	// ownPID is the process of the environment's own piped, 0 while that is not known.
	ownPID int
	// When the pipeds were checked last, and since when without a pause.
	checked, listening time.Time
}

type piped struct {
	model    *model.Piped
	key      KeyHash
	lastSeen time.Time
	// What the piped last reported of its plugin processes; nil when it never did.
	plugins []*agentv1.Plugin
	// The watch has ended since they were reported.
	pluginsStale bool
	// places are where debuggers hold plugins, by name.
	places map[string]string
	// lastRefused is when a call with its id was refused last.
	lastRefused time.Time
	// heartbeats says that it reports its health; problems are the ids of those it reported last.
	heartbeats bool
	problems   map[string]struct{}
	// earlier are the beginnings of the problems of the process before, which this one may find again.
	earlier beginnings
	// It asked for commands without a watch, as a piped does that cannot be notified of them.
	polls bool
	// able is what its last watch can do.
	able Abilities
	// faults are those that wait at it, as it reported them last.
	faults []*agentv1.Fault
	// shown is its state as it was published last.
	shown PipedState
}

func newPipeds(l *ledger, own string, o *offers, s *signals, a *Applications, e *Environment) *Pipeds {
	return &Pipeds{ledger: l, own: own, offers: o, signals: s, applications: a, environment: e,
		byID: map[string]*piped{}}
}

// Add makes a piped known. An existing one of that id gets the name, description and key.
func (p *Pipeds) Add(id, name, desc string, key KeyHash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(id, name, desc, key)
}

// Register adds a piped at the request of a user; ResourceExhausted when there are too many.
func (p *Pipeds) Register(id, name, desc string, key KeyHash) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byID) >= p.ledger.limits.Pipeds {
		return exhausted("%d pipeds are registered already", len(p.byID))
	}
	p.add(id, name, desc, key)
	return nil
}

func (p *Pipeds) add(id, name, desc string, key KeyHash) {
	now := p.ledger.now().Unix()
	one := p.byID[id]
	if one == nil {
		one = p.put(&model.Piped{Id: id, ProjectId: p.ledger.project, CreatedAt: now})
	}
	one.key = key
	one.model.Name, one.model.Desc, one.model.UpdatedAt = name, desc, now
	p.changed(one)
}

func (p *Pipeds) put(m *model.Piped) *piped {
	m.Status = model.Piped_OFFLINE
	one := &piped{model: m}
	p.byID[m.GetId()] = one
	p.offers.put(m)
	return one
}

// Key returns the hash of an enabled piped's key; false when there is no such piped.
func (p *Pipeds) Key(id string) (KeyHash, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.byID[id]
	if one == nil || one.model.GetDisabled() {
		return KeyHash{}, false
	}
	return one.key, true
}

// Saw notes that the piped called.
func (p *Pipeds) Saw(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.byID[id]; one != nil {
		one.lastSeen = p.ledger.now()
		p.stateChanged(one)
		p.environment.ClearProblem(problemID(id))
	}
}

// Get returns a piped with its present connection status.
func (p *Pipeds) Get(id string) (*model.Piped, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(id)
	if err != nil {
		return nil, err
	}
	m := proto.CloneOf(one.model)
	m.Status = model.Piped_OFFLINE
	if p.online(one) {
		m.Status = model.Piped_ONLINE
	}
	return m, nil
}

// Update changes name and description.
func (p *Pipeds) Update(id, name, desc string) error {
	return p.change(id, func(m *model.Piped) { m.Name, m.Desc = name, desc })
}

// SetDisabled lets a piped in or keeps it out from its next call on.
func (p *Pipeds) SetDisabled(id string, disabled bool) error {
	return p.change(id, func(m *model.Piped) { m.Disabled = disabled })
}

// ReportMeta stores what a starting piped says of itself and returns its name.
func (p *Pipeds) ReportMeta(id string, r *pipedservice.ReportPipedMetaRequest) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(id)
	if err != nil {
		return "", err
	}
	before := one.shownPlugins()
	one.earlier.keep(one.problems, p.environment, p.ledger.now())
	one.faults = nil // they end with the process
	if !p.signals.connected(id) {
		one.able = Abilities{} // another program may have the id now
	}
	r = proto.CloneOf(r)
	now := p.ledger.now()
	m := one.model
	m.Version, m.Config = r.GetVersion(), r.GetConfig()
	m.Repositories, m.Plugins = r.GetRepositories(), r.GetPlugins()
	m.CloudProviders, m.PlatformProviders = r.GetCloudProviders(), r.GetPlatformProviders()
	m.SecretEncryption = r.GetSecretEncryption()
	m.StartedAt, m.UpdatedAt = now.Unix(), now.Unix()
	p.offers.put(m)
	p.applications.refresh(id)
	stopLooking(p.applications, id)
	p.changed(one)
	p.publishPlugins(one, before)
	return m.GetName(), nil
}

// Abilities are what a piped can do with a command to sync an application, beyond PipeCD's.
type Abilities struct {
	// DeploysCommits says that it deploys the commit that the command names.
	DeploysCommits bool
	// RemovesApplications says that it removes the application where the command says so.
	RemovesApplications bool
	// AnswersPluginCalls says that it answers questions about the calls of its plugins.
	AnswersPluginCalls bool
	// RerunsStages says that it executes a stage once more for a user.
	RerunsStages bool
	// TakesFaults says that it has faults happen that users want.
	TakesFaults bool
	// StopsAtBreakpoints says that it does.
	StopsAtBreakpoints bool
	// LooksOnRequest says that it looks at live states when users ask for it.
	LooksOnRequest bool
}

// Watch connects a piped, which says what it can do. The first Next names every list.
func (p *Pipeds) Watch(id string, able Abilities) (*PipedWatch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(id)
	if err != nil {
		return nil, err
	}
	w := &PipedWatch{
		pipeds: p, signals: p.signals, id: id,
		lists:    Dirty{Applications: true, Commands: true, Deployments: true, Events: true},
		restarts: map[string]struct{}{}, wake: make(chan struct{}, 1),
	}
	w.wake <- struct{}{}
	before := one.shownPlugins()
	p.signals.add(w)
	one.pluginsStale = false
	if one.able != able {
		one.able = able
		p.changed(one)
	}
	p.stateChanged(one)
	p.publishPlugins(one, before)
	return w, nil
}

func (p *Pipeds) disconnect(w *PipedWatch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signals.remove(w)
	one := p.byID[w.id]
	one.lastSeen = p.ledger.now()
	if p.signals.connected(w.id) {
		return
	}
	p.applications.looks.abandon(w.id)
	p.stateChanged(one)
	if one.plugins == nil {
		return
	}
	before := one.shownPlugins()
	one.pluginsStale = true
	p.publishPlugins(one, before)
}

// polled notes that a piped asked for commands: one without a watch is not notified of them.
func (p *Pipeds) polled(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.byID[id]; one != nil && !one.polls && !p.signals.connected(id) {
		before := one.shownPlugins()
		one.polls = true
		p.publishPlugins(one, before)
	}
}

func (p *Pipeds) change(id string, change func(*model.Piped)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(id)
	if err != nil {
		return err
	}
	change(one.model)
	one.model.UpdatedAt = p.ledger.now().Unix()
	p.changed(one)
	return nil
}

// able returns what the piped can do; nothing when it is not known.
func (p *Pipeds) able(id string) Abilities {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.byID[id]; one != nil {
		return one.able
	}
	return Abilities{}
}

// exists returns NotFound when there is no such piped.
func (p *Pipeds) exists(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.find(id)
	return err
}

func (p *Pipeds) find(id string) (*piped, error) {
	if one := p.byID[id]; one != nil {
		return one, nil
	}
	return nil, errNoPiped
}

func (p *Pipeds) online(one *piped) bool {
	return p.signals.connected(one.model.GetId()) ||
		!one.lastSeen.IsZero() && p.ledger.now().Sub(one.lastSeen) < onlineFor
}

// inOrder returns all pipeds by their ids.
func (p *Pipeds) inOrder() []*piped {
	return sorted(p.byID, func(a, b *piped) int { return cmp.Compare(a.model.GetId(), b.model.GetId()) })
}

// state returns the present state as changes. The store is frozen.
func (p *Pipeds) state() (changes []Change) {
	for _, one := range p.inOrder() {
		changes = append(changes, Change{Piped: p.view(one)})
		for _, plugin := range one.shownPlugins() {
			changes = append(changes, Change{Plugin: plugin, PipedID: one.model.GetId()})
		}
	}
	return changes
}

// records emits what the journal keeps. The store is frozen.
func (p *Pipeds) records(emit func(journal.Record)) {
	for _, one := range p.inOrder() {
		emit(one.record())
	}
}

// record leaves out the configuration, which a piped reports at each start.
func (p *piped) record() journal.Record {
	m := proto.CloneOf(p.model)
	m.Config = ""
	return journal.Record{Kind: journal.Piped, ID: m.GetId(), Model: encode(m), Key: hex.EncodeToString(p.key[:])}
}

func (p *Pipeds) restore(r journal.Record) error {
	m := &model.Piped{}
	if err := p.ledger.decode(r, m); err != nil {
		return err
	}
	key, err := hex.DecodeString(r.Key)
	if err != nil || len(key) != len(KeyHash{}) {
		return errNoKey
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ledger.keeps() && p.byID[m.GetId()] != nil { // it was there before the history could be read
		return nil
	}
	p.put(m).key = KeyHash(key)
	return nil
}
