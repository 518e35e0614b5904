// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// Journal keeps records. Its methods return at once and may be called under the store's lock.
type Journal interface {
	// Append has a record kept.
	Append(journal.Record)
	// Replace has everything replaced by what Kept emits.
	Replace()
	// Loaded says whether Restore has been called for all records of an earlier control plane.
	Loaded() bool
}

// What a snapshot holds of logs: the end of each, and those of the newest deployments.
const (
	keptStageLog = 256 << 10
	keptLogs     = 16 << 20
)

// KeepIn has every change kept in the journal from now on; nil ends that.
func (s *Store) KeepIn(j Journal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = j
}

// Kept emits all that a journal should hold.
func (s *Store) Kept(emit func(journal.Record)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records(emit)
}

// keepChange keeps what is published. The caller holds s.mu.
func (s *Store) keepChange(c Change) {
	switch {
	case s.keep == nil:
	case c.Piped != nil:
		s.keepPiped(s.pipeds[c.Piped.Model.GetId()])
	case c.Application != nil:
		s.keepApplication(s.applications[c.Application.Model.GetId()])
	case c.RemovedApplication != "":
		s.keepApplication(s.applications[c.RemovedApplication])
	case c.Deployment != nil:
		s.keepDeployment(s.deployments[c.Deployment.Model.GetId()])
	}
}

func (s *Store) keepApplication(a *application) {
	if s.keep != nil && a != nil {
		s.keep.Append(applicationRecord(a))
	}
}

func (s *Store) keepPiped(p *piped) {
	if s.keep != nil && p != nil {
		s.keep.Append(pipedRecord(p))
	}
}

func (s *Store) keepDeployment(d *deployment) {
	if s.keep != nil && d != nil {
		s.keep.Append(deploymentRecord(d))
	}
}

func (s *Store) keepLog(deployment, stage string, attempt int32, blocks []LogBlock, sealed bool) {
	if s.keep != nil {
		s.keep.Append(logRecord(deployment, stage, attempt, blocks, sealed))
	}
}

func (s *Store) keepCommand(c *model.Command) {
	if s.keep != nil {
		s.keep.Append(journal.Record{Kind: journal.Command, ID: c.GetId(), Model: encode(c)})
	}
}

func (s *Store) keepEvent(e *model.Event) {
	if s.keep != nil {
		s.keep.Append(s.eventRecord(e))
	}
}

func (s *Store) keepChain(c *chain) {
	if s.keep != nil {
		s.keep.Append(chainRecord(c))
	}
}

func (s *Store) keepObject(k objectKey, object []byte) {
	if s.keep != nil {
		s.keep.Append(objectRecord(k, object))
	}
}

// records emits everything once: what others refer to comes first. The caller holds s.mu.
func (s *Store) records(emit func(journal.Record)) {
	for name, identity := range s.clusters {
		emit(journal.Record{Kind: journal.Cluster, ID: name, Name: identity})
	}
	for _, p := range sorted(s.pipeds, func(a, b *piped) int { return cmp.Compare(a.model.GetId(), b.model.GetId()) }) {
		emit(pipedRecord(p))
	}
	for _, a := range sorted(s.applications, func(a, b *application) int { return cmp.Compare(a.model.GetId(), b.model.GetId()) }) {
		emit(applicationRecord(a))
	}
	for _, id := range s.chainOrder {
		emit(chainRecord(s.chains[id]))
	}
	deployments := sorted(s.deployments, func(a, b *deployment) int { return cmp.Compare(a.sequence, b.sequence) })
	for _, d := range deployments {
		emit(deploymentRecord(d))
	}
	room := keptLogs
	for _, d := range slices.Backward(deployments) {
		for stage, log := range d.logs {
			room -= emitLog(d.model.GetId(), stage, log, min(room, keptStageLog), emit)
		}
	}
	for k, object := range s.objects {
		emit(objectRecord(k, object))
	}
	for application, result := range s.analyses {
		emit(journal.Record{Kind: journal.Analysis, ID: application, Model: encode(result)})
	}
	for _, e := range s.events {
		emit(s.eventRecord(e))
	}
	for _, c := range s.commands.waiting {
		emit(journal.Record{Kind: journal.Command, ID: c.GetId(), Model: encode(c)})
	}
}

// emitLog emits the end of a log that fits in room, and returns how much that is.
func emitLog(deployment, stage string, log *stageLog, room int, emit func(journal.Record)) int {
	used := 0
	newest := log.newest(room)
	for _, b := range newest {
		used += b.size()
	}
	blocks := byAttempt(newest)
	for attempt, a := range log.attempts {
		if len(blocks[attempt]) > 0 || a.sealed {
			emit(logRecord(deployment, stage, attempt, blocks[attempt], a.sealed))
		}
	}
	return used
}

// byAttempt keeps the order within each attempt.
func byAttempt(blocks []LogBlock) map[int32][]LogBlock {
	parts := map[int32][]LogBlock{}
	for _, b := range blocks {
		parts[b.Attempt] = append(parts[b.Attempt], b)
	}
	return parts
}

// pipedRecord leaves out the configuration, which a piped reports at each start.
func pipedRecord(p *piped) journal.Record {
	m := proto.CloneOf(p.model)
	m.Config = ""
	return journal.Record{Kind: journal.Piped, ID: m.GetId(), Model: encode(m), Key: hex.EncodeToString(p.key[:])}
}

func applicationRecord(a *application) journal.Record {
	r := journal.Record{Kind: journal.Application, ID: a.model.GetId(), Model: encode(a.model), Automatic: a.automatic}
	if a.uses != nil {
		names, _ := json.Marshal(*a.uses) // strings only
		r.Key = string(names)
	}
	return r
}

func (s *Store) eventRecord(e *model.Event) journal.Record {
	return journal.Record{Kind: journal.Event, ID: e.GetId(), Model: encode(e), Commit: encodeCommit(s.eventCommits[e.GetId()])}
}

func encodeCommit(c *model.Commit) []byte {
	if c == nil {
		return nil
	}
	return encode(c)
}

// decodeCommit returns nil for none, and for bytes that are none.
func decodeCommit(data []byte) *model.Commit {
	c := &model.Commit{}
	if len(data) == 0 || proto.Unmarshal(data, c) != nil {
		return nil
	}
	return c
}

func deploymentRecord(d *deployment) journal.Record {
	r := journal.Record{
		Kind: journal.Deployment, ID: d.model.GetId(), Model: encode(d.model), Commit: encodeCommit(d.eventCommit),
		Created: d.created, Completed: d.completed,
	}
	for id, times := range d.stages {
		r.Stages = append(r.Stages, journal.Stage{ID: id, Started: times.Started, Completed: times.Completed})
	}
	return r
}

func logRecord(deployment, stage string, attempt int32, blocks []LogBlock, sealed bool) journal.Record {
	r := journal.Record{Kind: journal.Log, ID: deployment, Name: stage, Attempt: attempt, Sealed: sealed}
	for _, b := range blocks {
		r.Blocks = append(r.Blocks, encode(b.Block))
		r.Received = b.Received
	}
	return r
}

func objectRecord(k objectKey, object []byte) journal.Record {
	return journal.Record{Kind: journal.Object, ID: k.application, Name: k.plugin, Key: k.key, Model: object}
}

// keptChain is a chain as it is kept.
type keptChain struct {
	ID     string
	Blocks [][]keptNode
}

type keptNode struct {
	Application, Deployment string
	Status                  int32
}

func chainRecord(c *chain) journal.Record {
	kept := keptChain{ID: c.id}
	for _, block := range c.blocks {
		nodes := []keptNode{}
		for _, n := range block {
			nodes = append(nodes, keptNode{n.application, n.deployment, int32(n.status)})
		}
		kept.Blocks = append(kept.Blocks, nodes)
	}
	data, _ := json.Marshal(kept) // strings and numbers only
	return journal.Record{Kind: journal.Chain, ID: c.id, Model: data}
}

func (s *Store) keepAnalysis(application string, result *model.AnalysisResult) {
	if s.keep != nil {
		s.keep.Append(journal.Record{Kind: journal.Analysis, ID: application, Model: encode(result)})
	}
}

// encode cannot fail: the messages came over the wire, or are made of such.
func encode(m proto.Message) []byte {
	data, _ := proto.Marshal(m)
	return data
}
