// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/hex"
	"encoding/json"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// Restore takes back one record of an earlier control plane, in the order in which they were kept, before
// anybody uses the store. Nothing is published and nothing is kept again; a record that makes no sense is
// passed over.
func (s *Store) Restore(r journal.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Kind {
	case journal.Piped:
		s.restorePiped(r)
	case journal.Application:
		s.restoreApplication(r)
	case journal.Deployment:
		s.restoreDeployment(r)
	case journal.Log:
		s.restoreLog(r)
	case journal.Command:
		s.restoreCommand(r)
	case journal.Event:
		s.restoreEvent(r)
	case journal.Chain:
		s.restoreChain(r)
	case journal.Cluster:
		s.clusters[r.ID] = r.Name
	case journal.Object:
		k := objectKey{r.ID, r.Name, r.Key}
		s.objectBytes += len(r.Model) - len(s.objects[k])
		s.objects[k] = slices.Clone(r.Model)
	}
}

func (s *Store) restorePiped(r journal.Record) {
	m := &model.Piped{}
	key, err := hex.DecodeString(r.Key)
	if proto.Unmarshal(r.Model, m) != nil || m.GetProjectId() != s.project || err != nil || len(key) != len(KeyHash{}) {
		return
	}
	p := newPiped(m)
	p.key = KeyHash(key)
	s.pipeds[m.GetId()] = p
}

func (s *Store) restoreApplication(r journal.Record) {
	m := &model.Application{}
	if proto.Unmarshal(r.Model, m) != nil || m.GetProjectId() != s.project {
		return
	}
	a := s.applications[m.GetId()]
	if a == nil {
		a = &application{}
	}
	a.model, a.automatic, a.uses = m, r.Automatic, nil
	if names := []string(nil); json.Unmarshal([]byte(r.Key), &names) == nil && names != nil {
		a.uses = &names
	}
	s.putApplication(a)
	if m.GetDeleted() {
		s.removeObjects(m.GetId())
	}
}

func (s *Store) restoreDeployment(r journal.Record) {
	m := &model.Deployment{}
	if proto.Unmarshal(r.Model, m) != nil || m.GetProjectId() != s.project {
		return
	}
	d := s.deployments[m.GetId()]
	ended := d != nil && completed(d.model.GetStatus())
	if d == nil {
		d = &deployment{model: m, sequence: s.nextSequence(), logs: map[string]*stageLog{}}
		s.putDeployment(d)
		if a := s.applications[m.GetApplicationId()]; a != nil {
			a.latest = m.GetId()
		}
	}
	d.model, d.created, d.completed, d.eventCommit = m, r.Created, r.Completed, decodeCommit(r.Commit)
	d.stages = map[string]StageTimes{}
	for _, t := range r.Stages {
		d.stages[t.ID] = StageTimes{Started: t.Started, Completed: t.Completed}
	}
	s.followChain(d)
	if completed(m.GetStatus()) && !ended {
		s.complete(d)
	}
}

func (s *Store) restoreLog(r journal.Record) {
	d := s.deployments[r.ID]
	if d == nil || d.stage(r.Name) == nil {
		return
	}
	var blocks []*model.LogBlock
	for _, data := range r.Blocks {
		b := &model.LogBlock{}
		if proto.Unmarshal(data, b) == nil {
			blocks = append(blocks, b)
		}
	}
	log := d.log(r.Name)
	before := log.bytes
	log.add(r.Attempt, blocks, r.Received)
	log.compress(&s.packer)
	s.logBytes += log.bytes - before
	log.attempt(r.Attempt).sealed = log.attempt(r.Attempt).sealed || r.Sealed
	s.boundLogs(log)
}

func (s *Store) restoreCommand(r journal.Record) {
	c := &model.Command{}
	if proto.Unmarshal(r.Model, c) != nil || c.GetProjectId() != s.project {
		return
	}
	book := &s.commands
	book.waiting = slices.DeleteFunc(book.waiting, func(w *model.Command) bool { return w.GetId() == c.GetId() })
	delete(book.byID, c.GetId())
	if c.GetStatus() == model.CommandStatus_COMMAND_NOT_HANDLED_YET {
		book.waiting = append(book.waiting, c)
		book.byID[c.GetId()] = c
	}
}

func (s *Store) restoreEvent(r journal.Record) {
	e := &model.Event{}
	if proto.Unmarshal(r.Model, e) != nil || e.GetProjectId() != s.project {
		return
	}
	if i := slices.IndexFunc(s.events, func(o *model.Event) bool { return o.GetId() == e.GetId() }); i >= 0 {
		s.events[i] = e
		return
	}
	s.putEvent(e, decodeCommit(r.Commit))
}

func (s *Store) restoreChain(r journal.Record) {
	var kept keptChain
	if json.Unmarshal(r.Model, &kept) != nil || len(kept.Blocks) == 0 || len(kept.Blocks[0]) == 0 {
		return
	}
	c := &chain{id: kept.ID}
	for _, block := range kept.Blocks {
		var nodes []*chainNode
		for _, n := range block {
			nodes = append(nodes, &chainNode{n.Application, n.Deployment, model.DeploymentStatus(n.Status)})
		}
		c.blocks = append(c.blocks, nodes)
	}
	if s.chains[c.id] == nil {
		s.chainOrder = append(s.chainOrder, c.id)
	}
	s.chains[c.id] = c
	for _, d := range s.deployments { // those that were created before the chain was kept
		if d.model.GetDeploymentChainId() == c.id {
			s.followChain(d)
		}
	}
	if len(s.chainOrder) > s.limits.Chains {
		delete(s.chains, s.chainOrder[0])
		s.chainOrder = slices.Delete(s.chainOrder, 0, 1)
	}
}

// repositoryName is the place of the repository's identity among those of clusters; no cluster has that name.
const repositoryName = "/repository"

// Watching says which repository the applications come from. When it is another one than the last time,
// everything about applications is forgotten: the same place in Git means another one there, and its
// commits are not known.
func (s *Store) Watching(repository string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.clusters[repositoryName]
	if before == repository {
		return
	}
	if known {
		fresh := New(Options{ProjectID: s.project, Now: s.now, Limits: s.limits})
		s.applications, s.deployments, s.completed, s.commands = fresh.applications, fresh.deployments, nil, fresh.commands
		s.index, s.open = fresh.index, fresh.open
		s.events, s.eventCommits, s.chains, s.chainOrder = nil, fresh.eventCommits, fresh.chains, nil // the clusters are the same ones
		s.objects, s.objectBytes, s.analyses, s.logBytes = fresh.objects, 0, fresh.analyses, 0
		for sub := range s.watchers {
			sub.restart()
		}
	}
	s.clusters[repositoryName] = repository
	switch {
	case s.keep == nil:
	case known:
		s.keep.Rewrite(s.records)
	default:
		s.append(journal.Record{Kind: journal.Cluster, ID: repositoryName, Name: repository})
	}
}

// Recognise says which cluster the deploy targets of that name lead to, by an identity of its own. When it
// is another one than the last time, what is known to run there runs no more: the applications that are
// deployed there are as if they had never been, and are synced. It returns their number.
func (s *Store) Recognise(name, identity string) (again int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.clusters[name]
	if before == identity {
		return 0
	}
	s.clusters[name] = identity
	if s.keep != nil {
		s.append(journal.Record{Kind: journal.Cluster, ID: name, Name: identity})
	}
	if !known {
		return 0
	}
	for _, a := range s.applications {
		if a.model.GetDeleted() || a.model.GetMostRecentlySuccessfulDeployment() == nil || !a.deployedTo(name) {
			continue
		}
		a.model.MostRecentlySuccessfulDeployment = nil
		s.applicationChanged(a)
		if a.model.GetDisabled() {
			continue
		}
		_, err := s.addCommand(&model.Command{
			PipedId: a.model.GetPipedId(), ApplicationId: a.model.GetId(), Commander: "pipedeck", Type: model.Command_SYNC_APPLICATION,
			SyncApplication: &model.Command_SyncApplication{ApplicationId: a.model.GetId(), SyncStrategy: model.SyncStrategy_AUTO},
		})
		if err == nil {
			again++
		}
	}
	return again
}

// deployedTo tells whether a deploy target of the application has that name.
func (a *application) deployedTo(name string) bool {
	for _, targets := range a.model.GetDeployTargetsByPlugin() {
		if slices.Contains(targets.GetDeployTargets(), name) {
			return true
		}
	}
	return false
}
