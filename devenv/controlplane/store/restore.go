// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// Errors of records that Restore does not understand.
var (
	errOtherProject = errors.New("it belongs to another project")
	errNoID         = errors.New("it has no id")
	errNoKey        = errors.New("its key is not a hash")
	errOtherOwner   = errors.New("it had another piped or application before")
	errReopened     = errors.New("it had ended before")
	errUnknownKind  = errors.New("its kind is unknown to this version of pipedeck")
)

// Restore takes back one record of an earlier control plane, in the order in which the records were kept. Nothing is
// published and nothing is kept again. An error says that the record makes no sense.
func (s *Store) Restore(r journal.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Kind {
	case journal.Piped:
		return s.restorePiped(r)
	case journal.Application:
		return s.restoreApplication(r)
	case journal.Deployment:
		return s.restoreDeployment(r)
	case journal.Log:
		return s.restoreLog(r)
	case journal.Command:
		return s.restoreCommand(r)
	case journal.Event:
		return s.restoreEvent(r)
	case journal.Chain:
		return s.restoreChain(r)
	case journal.Cluster:
		s.clusters[r.ID] = r.Name
		return nil
	case journal.Object:
		k := objectKey{r.ID, r.Name, r.Key}
		s.objectBytes += len(r.Model) - len(s.objects[k])
		s.objects[k] = slices.Clone(r.Model)
		return nil
	case journal.Analysis:
		result := &model.AnalysisResult{}
		if err := proto.Unmarshal(r.Model, result); err != nil {
			return err
		}
		s.analyses[r.ID] = result
		return nil
	}
	return errUnknownKind
}

// object is a message that an id and a project belong to.
type object interface {
	proto.Message
	GetId() string
	GetProjectId() string
}

// decodeObject reads the object of a record.
func (s *Store) decodeObject(r journal.Record, m object) error {
	if err := proto.Unmarshal(r.Model, m); err != nil {
		return err
	}
	switch {
	case m.GetId() == "":
		return errNoID
	case m.GetProjectId() != s.project:
		return errOtherProject
	}
	return nil
}

func (s *Store) restorePiped(r journal.Record) error {
	m := &model.Piped{}
	if err := s.decodeObject(r, m); err != nil {
		return err
	}
	key, err := hex.DecodeString(r.Key)
	if err != nil || len(key) != len(KeyHash{}) {
		return errNoKey
	}
	if s.keep != nil && s.pipeds[m.GetId()] != nil { // it was there before the history could be read
		return nil
	}
	p := newPiped(m)
	p.key = KeyHash(key)
	s.pipeds[m.GetId()] = p
	return nil
}

func (s *Store) restoreApplication(r journal.Record) error {
	m := &model.Application{}
	if err := s.decodeObject(r, m); err != nil {
		return err
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
	return nil
}

func (s *Store) restoreDeployment(r journal.Record) error {
	m := &model.Deployment{}
	if err := s.decodeObject(r, m); err != nil {
		return err
	}
	d := s.deployments[m.GetId()]
	ended := d != nil && completed(d.model.GetStatus())
	switch {
	case d == nil:
	case d.model.GetPipedId() != m.GetPipedId(), d.model.GetApplicationId() != m.GetApplicationId():
		return errOtherOwner
	case ended && !completed(m.GetStatus()):
		return errReopened
	}
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
	for _, log := range s.orphans.take(m.GetId()) {
		if d.stage(log.Name) != nil { // its blocks have been decoded before
			_ = s.restoreLog(log)
		}
	}
	if completed(m.GetStatus()) && !ended {
		s.complete(d)
	}
	return nil
}

func (s *Store) restoreLog(r journal.Record) error {
	var blocks []*model.LogBlock
	for _, data := range r.Blocks {
		b := &model.LogBlock{}
		if err := proto.Unmarshal(data, b); err != nil {
			return err
		}
		blocks = append(blocks, b)
	}
	d := s.deployments[r.ID]
	if d == nil || d.stage(r.Name) == nil {
		s.orphans.add(r)
		return nil
	}
	log := d.log(r.Name)
	before := log.bytes
	log.add(r.Attempt, blocks, r.Received)
	log.compress(&s.packer)
	s.logBytes += log.bytes - before
	log.attempt(r.Attempt).sealed = log.attempt(r.Attempt).sealed || r.Sealed
	s.boundLogs(log)
	return nil
}

func (s *Store) restoreCommand(r journal.Record) error {
	c := &model.Command{}
	if err := s.decodeObject(r, c); err != nil {
		return err
	}
	book := &s.commands
	book.waiting = slices.DeleteFunc(book.waiting, func(w *model.Command) bool { return w.GetId() == c.GetId() })
	delete(book.byID, c.GetId())
	if c.GetStatus() == model.CommandStatus_COMMAND_NOT_HANDLED_YET {
		book.waiting = append(book.waiting, c)
		book.byID[c.GetId()] = c
	}
	return nil
}

func (s *Store) restoreEvent(r journal.Record) error {
	e := &model.Event{}
	if err := s.decodeObject(r, e); err != nil {
		return err
	}
	if i := slices.IndexFunc(s.events, func(o *model.Event) bool { return o.GetId() == e.GetId() }); i >= 0 {
		s.events[i] = e
		return nil
	}
	s.putEvent(e, decodeCommit(r.Commit))
	return nil
}

func (s *Store) restoreChain(r journal.Record) error {
	var kept keptChain
	if err := json.Unmarshal(r.Model, &kept); err != nil {
		return err
	}
	if kept.ID == "" || len(kept.Blocks) == 0 || len(kept.Blocks[0]) == 0 {
		return errNoID
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
	return nil
}
