// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// PipeCD v1: a piped counts as offline when nothing was heard from it for this long.
const onlineFor = 2 * time.Minute

// KeyHash is the SHA-256 of a secret.
type KeyHash [32]byte

type piped struct {
	model    *model.Piped
	key      KeyHash
	lastSeen time.Time
	watches  map[*PipedWatch]struct{}
	// What the piped last reported of its plugin processes; nil when it never did.
	plugins []*agentv1.Plugin
	// The watch has ended since they were reported.
	pluginsStale bool
	// lastRefused is when a call with its id was refused last.
	lastRefused time.Time
	// heartbeats says that it reports its health; problems are the ids of those it reported last.
	heartbeats bool
	problems   map[string]struct{}
	// It asked for commands without a watch, as a piped does that cannot be told of them.
	polls bool
	// uses are the plugins that applications use by their configuration, as it reported them.
	uses map[place][]string
	// shown is its state as it was published last.
	shown PipedState
}

// AddPiped makes a piped known. An existing one of that id gets the name, description and key.
func (s *Store) AddPiped(id, name, desc string, key KeyHash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addPiped(id, name, desc, key)
}

// RegisterPiped adds a piped on a user's word; ResourceExhausted when there are too many.
func (s *Store) RegisterPiped(id, name, desc string, key KeyHash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pipeds) >= s.limits.Pipeds {
		return exhausted("%d pipeds are registered already", len(s.pipeds))
	}
	s.addPiped(id, name, desc, key)
	return nil
}

func (s *Store) addPiped(id, name, desc string, key KeyHash) {
	now := s.now().Unix()
	p := s.pipeds[id]
	if p == nil {
		p = newPiped(&model.Piped{Id: id, ProjectId: s.project, CreatedAt: now})
		s.pipeds[id] = p
	}
	p.key = key
	p.model.Name, p.model.Desc, p.model.UpdatedAt = name, desc, now
	s.publishPiped(p)
}

func newPiped(m *model.Piped) *piped {
	m.Status = model.Piped_OFFLINE
	return &piped{model: m, watches: map[*PipedWatch]struct{}{}}
}

// PipedKey returns the hash of an enabled piped's key; false when there is no such piped.
func (s *Store) PipedKey(id string) (KeyHash, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pipeds[id]
	if p == nil || p.model.GetDisabled() {
		return KeyHash{}, false
	}
	return p.key, true
}

// SawPiped notes that the piped called.
func (s *Store) SawPiped(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pipeds[id]; p != nil {
		p.lastSeen = s.now()
		s.pipedStateChanged(p)
		s.clearProblem(problemID(id))
	}
}

// Piped returns a piped with its present connection status.
func (s *Store) Piped(id string) (*model.Piped, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.piped(id)
	if err != nil {
		return nil, err
	}
	m := proto.CloneOf(p.model)
	m.Status = model.Piped_OFFLINE
	if s.online(p) {
		m.Status = model.Piped_ONLINE
	}
	return m, nil
}

// UpdatePiped changes name and description.
func (s *Store) UpdatePiped(id, name, desc string) error {
	return s.changePiped(id, func(p *model.Piped) { p.Name, p.Desc = name, desc })
}

// SetPipedDisabled lets a piped in or keeps it out from its next call on.
func (s *Store) SetPipedDisabled(id string, disabled bool) error {
	return s.changePiped(id, func(p *model.Piped) { p.Disabled = disabled })
}

// ReportPipedMeta stores what a starting piped says of itself and returns its name.
func (s *Store) ReportPipedMeta(id string, r *pipedservice.ReportPipedMetaRequest) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.piped(id)
	if err != nil {
		return "", err
	}
	before := p.shownPlugins()
	r = proto.CloneOf(r)
	now := s.now()
	m := p.model
	m.Version, m.Config = r.GetVersion(), r.GetConfig()
	m.Repositories, m.Plugins = r.GetRepositories(), r.GetPlugins()
	m.CloudProviders, m.PlatformProviders = r.GetCloudProviders(), r.GetPlatformProviders()
	m.SecretEncryption = r.GetSecretEncryption()
	m.StartedAt, m.UpdatedAt = now.Unix(), now.Unix()
	s.refreshDeployTargets(p)
	s.publishPiped(p)
	s.publishPlugins(p, before)
	return m.GetName(), nil
}

func (s *Store) changePiped(id string, change func(*model.Piped)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.piped(id)
	if err != nil {
		return err
	}
	change(p.model)
	p.model.UpdatedAt = s.now().Unix()
	s.publishPiped(p)
	return nil
}

func (s *Store) piped(id string) (*piped, error) {
	if p := s.pipeds[id]; p != nil {
		return p, nil
	}
	return nil, notFound("Piped is not found")
}

func (s *Store) online(p *piped) bool {
	return len(p.watches) > 0 || (!p.lastSeen.IsZero() && s.now().Sub(p.lastSeen) < onlineFor)
}

func (p *piped) repository(id string) *model.ApplicationGitRepository {
	for _, r := range p.model.GetRepositories() {
		if r.GetId() == id {
			return proto.CloneOf(r)
		}
	}
	return nil
}

// TargetLabel is the label by which an application's configuration chooses one of several deploy
// targets. PipeCD v1 leaves that choice to whoever registers the application in a browser.
const TargetLabel = "pipedeck.dev/target"

// deployTargets are what an application with these labels gets that nobody gave any: every target of the plugins that
// it uses, or the one that it chose. PipeCD's pipeds do not report which plugins those are: then it is every plugin. A
// name that no plugin knows gives none, so that a typing mistake deploys nowhere.
func (p *piped) deployTargets(labels map[string]string, used *[]string) map[string]*model.DeployTargets {
	all := map[string]*model.DeployTargets{}
	chosen := map[string]*model.DeployTargets{}
	for _, plugin := range p.model.GetPlugins() {
		name, targets := plugin.GetName(), plugin.GetDeployTargets()
		if used != nil && !slices.Contains(*used, name) {
			continue
		}
		if len(targets) > 0 {
			all[name] = &model.DeployTargets{DeployTargets: targets}
		}
		if slices.Contains(targets, labels[TargetLabel]) {
			chosen[name] = &model.DeployTargets{DeployTargets: []string{labels[TargetLabel]}}
		}
	}
	switch {
	case labels[TargetLabel] == "":
		return all
	case len(chosen) == 0:
		return chosen
	}
	// Plugins for other platforms keep theirs.
	maps.Copy(all, chosen)
	return all
}

// platformProviders are the types of platform providers that the kinds of PipeCD v0 need.
var platformProviders = map[model.ApplicationKind]string{
	model.ApplicationKind_KUBERNETES: "KUBERNETES", model.ApplicationKind_TERRAFORM: "TERRAFORM", model.ApplicationKind_LAMBDA: "LAMBDA",
	model.ApplicationKind_CLOUDRUN: "CLOUDRUN", model.ApplicationKind_ECS: "ECS",
}

// platformProvider is the provider of a piped of PipeCD v0 that an application gets which nobody gave any: the one that
// its label chooses, or the first of its kind. Empty for other pipeds, which have none. v0 refuses to plan without one.
func (p *piped) platformProvider(kind model.ApplicationKind, labels map[string]string) string {
	for _, provider := range p.model.GetPlatformProviders() {
		if provider.GetType() == platformProviders[kind] && (labels[TargetLabel] == "" || labels[TargetLabel] == provider.GetName()) {
			return provider.GetName()
		}
	}
	for _, provider := range p.model.GetCloudProviders() { // older versions of v0
		if provider.GetType() == platformProviders[kind] && (labels[TargetLabel] == "" || labels[TargetLabel] == provider.GetName()) {
			return provider.GetName()
		}
	}
	return ""
}
