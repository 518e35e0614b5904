// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// Objects are what plugins store with applications: shared objects, and the last analysis (PipeCD v0).
type Objects struct {
	ledger       *ledger
	applications *Applications

	mu       sync.Mutex
	objects  map[objectKey][]byte
	bytes    int // of all objects
	analyses map[string]*model.AnalysisResult
}

type objectKey struct{ application, plugin, key string }

func newObjects(l *ledger, a *Applications) *Objects {
	o := &Objects{ledger: l, applications: a}
	o.clear()
	return o
}

// clear forgets everything. The store is frozen.
func (o *Objects) clear() {
	o.objects, o.bytes, o.analyses = map[objectKey][]byte{}, 0, map[string]*model.AnalysisResult{}
}

// Get returns what a plugin stored for an application; NotFound when nothing.
func (o *Objects) Get(pipedID, application, plugin, key string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.applications.owned(pipedID, application); err != nil {
		return nil, err
	}
	object, ok := o.objects[objectKey{application, plugin, key}]
	if !ok {
		return nil, notFound("application %s has no object %q of plugin %s", application, key, plugin)
	}
	return slices.Clone(object), nil
}

// Put stores bytes for a plugin with an application.
func (o *Objects) Put(pipedID, application, plugin, key string, object []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.applications.owned(pipedID, application); err != nil {
		return err
	}
	if limit := o.ledger.limits.SharedObjectBytes; len(object) > limit {
		return invalid("the shared object %q of plugin %s has %d bytes; at most %d are kept", key, plugin, len(object),
			limit)
	}
	k := objectKey{application, plugin, key}
	if limit := o.ledger.limits.ObjectBytes; o.bytes+len(object)-len(o.objects[k]) > limit {
		return exhausted("shared objects would take more than %d bytes; plugin %s should store less", limit, plugin)
	}
	o.put(k, object)
	o.ledger.keep(func() journal.Record { return k.record(object) })
	return nil
}

func (o *Objects) put(k objectKey, object []byte) {
	o.bytes += len(object) - len(o.objects[k])
	o.objects[k] = slices.Clone(object)
}

// Analysis returns the last analysis of an application (PipeCD v0); NotFound when none.
func (o *Objects) Analysis(pipedID, application string) (*model.AnalysisResult, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.applications.owned(pipedID, application); err != nil {
		return nil, err
	}
	result, ok := o.analyses[application]
	if !ok {
		return nil, notFound("application %s has no analysis result", application)
	}
	return proto.CloneOf(result), nil
}

// PutAnalysis stores the last analysis of an application (PipeCD v0).
func (o *Objects) PutAnalysis(pipedID, application string, result *model.AnalysisResult) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.applications.owned(pipedID, application); err != nil {
		return err
	}
	o.analyses[application] = proto.CloneOf(result)
	o.ledger.keep(func() journal.Record { return analysisRecord(application, result) })
	return nil
}

// remove forgets all that is stored with an application.
func (o *Objects) remove(application string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.analyses, application)
	for k, object := range o.objects {
		if k.application == application {
			o.bytes -= len(object)
			delete(o.objects, k)
		}
	}
}

// records emits what the journal keeps. The store is frozen.
func (o *Objects) records(emit func(journal.Record)) {
	for k, object := range o.objects {
		emit(k.record(object))
	}
	for application, result := range o.analyses {
		emit(analysisRecord(application, result))
	}
}

func (k objectKey) record(object []byte) journal.Record {
	return journal.Record{Kind: journal.Object, ID: k.application, Name: k.plugin, Key: k.key, Model: object}
}

func analysisRecord(application string, result *model.AnalysisResult) journal.Record {
	return journal.Record{Kind: journal.Analysis, ID: application, Model: encode(result)}
}

func (o *Objects) restoreObject(r journal.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(objectKey{r.ID, r.Name, r.Key}, r.Model)
}

func (o *Objects) restoreAnalysis(r journal.Record) error {
	result := &model.AnalysisResult{}
	if err := proto.Unmarshal(r.Model, result); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.analyses[r.ID] = result
	return nil
}
