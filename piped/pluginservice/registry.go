// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
)

// Registry knows the deployments that piped is planning or running, with their metadata. Plugins may only
// touch those.
type Registry struct {
	sealer      Sealer // nil seals nothing
	logger      *slog.Logger
	mu          sync.Mutex
	deployments map[string]*deployment
	// ended are the last ones that were removed, and order their ids, oldest first.
	ended map[string]*deployment
	order []string

	// Idle, unless nil, is called when no stage of a deployment runs any more, before another one begins. What it
	// returns is called then, too, but nothing waits for it. It is set before the Registry is used.
	Idle func(deploymentID string) (after func())
}

// maxEnded bounds the deployments that are remembered for log lines after their end.
const maxEnded = 200

// NewRegistry creates an empty Registry that seals nothing.
func NewRegistry() *Registry { return NewSealingRegistry(nil, slog.New(slog.DiscardHandler)) }

// NewSealingRegistry creates an empty Registry. Metadata that holds secrets is kept sealed.
func NewSealingRegistry(sealer Sealer, logger *slog.Logger) *Registry {
	return &Registry{
		sealer: sealer, logger: logger, deployments: map[string]*deployment{}, ended: map[string]*deployment{},
	}
}

// deployment is the metadata of one deployment. saving orders the saves; mu guards the maps.
type deployment struct {
	of     *model.Deployment // for answers; never changed
	saving sync.Mutex
	seals  *seals
	sizes  *metadataSizes

	mu      sync.Mutex
	shared  map[string]string
	plugins map[string]map[string]string
	stages  map[string]map[string]string
	running map[string]*runningStage
	// attempts outlives running: the last log lines of a stage may come after its end.
	attempts map[string]int32
	stops    map[string]string // why stages were stopped
	// hands holds the stages that each plugin has been given, by plugin.
	hands map[string]map[string]bool
	// scratch takes what plugins report during a re-run; nil for a deployment that is run.
	scratch *Scratch
}

// hand notes that a plugin was given the deployment, and a stage of it unless that is empty.
func (d *deployment) hand(plugin, stageID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	stages := d.hands[plugin]
	if stages == nil {
		stages = map[string]bool{}
		d.hands[plugin] = stages
	}
	if stageID != "" {
		stages[stageID] = true
	}
}

// inHandsOf asks for the deployment when stageID is empty.
func (d *deployment) inHandsOf(plugin, stageID string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	stages, held := d.hands[plugin]
	return held && (stageID == "" || stages[stageID])
}

// runningStage is one attempt at a stage.
type runningStage struct {
	ended chan struct{} // closed with it
	// logged is closed with the log, under deployment.mu.
	logged   chan struct{}
	complete func()
}

// Add makes a deployment known until remove is called. The deployment is copied from.
func (r *Registry) Add(d *model.Deployment) (remove func()) {
	entry := r.entry(d)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deployments[d.GetId()] = entry
	return r.remover(d.GetId(), entry)
}

// entry copies what is known of a deployment.
func (r *Registry) entry(d *model.Deployment) *deployment {
	entry := &deployment{
		of:       described(d),
		seals:    &seals{Sealer: r.sealer, logger: r.logger.With("deployment", d.GetId()), kept: map[string]bool{}},
		sizes:    newMetadataSizes(),
		shared:   maps.Clone(d.GetMetadataV2().GetShared().GetKeyValues()),
		plugins:  map[string]map[string]string{},
		stages:   map[string]map[string]string{},
		running:  map[string]*runningStage{},
		attempts: map[string]int32{},
		stops:    map[string]string{},
		hands:    map[string]map[string]bool{},
	}
	for plugin, values := range d.GetMetadataV2().GetPlugins() {
		entry.sizes.note(place(d.GetId(), "plugin", plugin), values.GetKeyValues())
		entry.plugins[plugin] = entry.seals.open(place(d.GetId(), "plugin", plugin), values.GetKeyValues())
	}
	for _, stage := range d.GetStages() {
		entry.sizes.note(place(d.GetId(), "stage", stage.GetId()), stage.GetMetadata())
		entry.stages[stage.GetId()] = entry.seals.open(place(d.GetId(), "stage", stage.GetId()), stage.GetMetadata())
	}
	return entry
}

func (r *Registry) remover(id string, entry *deployment) func() {
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.deployments[id] == entry {
			delete(r.deployments, id)
			r.remember(id, entry)
		}
	}
}

// AttemptMetadataKey is the stage metadata that shows a plugin that a stage was interrupted and starts
// again: the number of attempts before this one, in digits. A first attempt has none.
const AttemptMetadataKey = "pipedeck/attempt"

// BeginStage notes that a stage is being executed for the attempt-th time after the first; end must be
// called when it is over.
func (r *Registry) BeginStage(deploymentID, stageID string, attempt int32) (end func()) {
	d, err := r.find(deploymentID)
	if err != nil {
		return func() {}
	}
	stage := &runningStage{ended: make(chan struct{}), logged: make(chan struct{})}
	stage.complete = sync.OnceFunc(func() { close(stage.logged) })
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running[stageID] = stage
	d.attempts[stageID] = attempt
	delete(d.stops, stageID)
	if attempt > 0 {
		values := maps.Clone(d.stages[stageID]) // a save may be reading the old ones
		if values == nil {
			values = map[string]string{}
		}
		values[AttemptMetadataKey] = strconv.Itoa(int(attempt))
		d.stages[stageID] = values
	}
	return sync.OnceFunc(func() { r.endStage(deploymentID, stageID, d, stage)() })
}

// endStage returns what is left to do without the lock.
func (r *Registry) endStage(deploymentID, stageID string, d *deployment, stage *runningStage) (after func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(stage.ended)
	if d.running[stageID] == stage {
		delete(d.running, stageID)
	}
	if len(d.running) > 0 || r.Idle == nil {
		return func() {}
	}
	return r.Idle(deploymentID)
}

// AwaitLog waits until a plugin has completed the log of the running stage, which it does last of all: a
// call that was cancelled returns at once, whatever the plugin still does. It also returns when the plugin's
// process is gone, and false when ctx ended before.
func (r *Registry) AwaitLog(ctx context.Context, deploymentID, stageID string, gone <-chan struct{}) bool {
	stage, err := r.runningStage(deploymentID, stageID)
	if err != nil {
		return true
	}
	select {
	case <-stage.logged:
		return true
	case <-gone:
		return true
	case <-ctx.Done():
		return false
	}
}

// noteLog takes in that the plugin has written to the log of a stage, and maybe completed it.
func (r *Registry) noteLog(deploymentID, stageID string, completed bool) {
	d, err := r.find(deploymentID)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if stage := d.running[stageID]; stage != nil && completed {
		stage.complete()
	}
}

// Metadata returns copies of the present metadata, for the messages to plugins.
func (r *Registry) Metadata(deploymentID string) (all *model.DeploymentMetadata, stages map[string]map[string]string) {
	d, err := r.find(deploymentID)
	if err != nil {
		return nil, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	all = &model.DeploymentMetadata{
		Shared:  &model.DeploymentMetadata_KeyValues{KeyValues: maps.Clone(d.shared)},
		Plugins: map[string]*model.DeploymentMetadata_KeyValues{},
	}
	for plugin, values := range d.plugins {
		all.Plugins[plugin] = &model.DeploymentMetadata_KeyValues{KeyValues: maps.Clone(values)}
	}
	stages = map[string]map[string]string{}
	for stage, values := range d.stages {
		stages[stage] = maps.Clone(values)
	}
	return all, stages
}

// remember keeps an ended deployment while there are not too many younger ones.
func (r *Registry) remember(id string, d *deployment) {
	if _, again := r.ended[id]; !again {
		r.order = append(r.order, id)
	}
	r.ended[id] = d
	if len(r.order) > maxEnded {
		delete(r.ended, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
}

// findEnded returns a deployment that piped is done with, or nil.
func (r *Registry) findEnded(deploymentID string) *deployment {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended[deploymentID]
}

// findKept returns a deployment whose metadata may be read and put: one under way, or one that piped has left because
// it stops. The plugins of the latter run on for a while, and their next attempts need what they put.
func (r *Registry) findKept(deploymentID string) (*deployment, error) {
	d, err := r.find(deploymentID)
	if ended := r.findEnded(deploymentID); err != nil && ended != nil && ended.left() {
		return ended, nil
	}
	return d, err
}

// find answers an unknown deployment with the code that PipeCD v1 uses.
func (r *Registry) find(deploymentID string) (*deployment, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d, ok := r.deployments[deploymentID]; ok {
		return d, nil
	}
	return nil, status.Errorf(codes.Unknown, "deployment %q is not being planned or run by this piped", deploymentID)
}

func (r *Registry) runningStage(deploymentID, stageID string) (*runningStage, error) {
	d, err := r.find(deploymentID)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	stage, ok := d.running[stageID]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "stage %q of deployment %q is not running", stageID, deploymentID)
	}
	return stage, nil
}

// Running reports whether a stage is being executed.
func (r *Registry) Running(deploymentID, stageID string) bool {
	_, err := r.runningStage(deploymentID, stageID)
	return err == nil
}

// attempt is the number of the present or last attempt at a stage.
func (r *Registry) attempt(deploymentID, stageID string) int32 {
	d, err := r.find(deploymentID)
	if err != nil {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.attempts[stageID]
}

// get reads one value from the map that pick chooses.
func (d *deployment) get(pick func(*deployment) map[string]string, key string) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	value, found := pick(d)[key]
	return value, found
}

// group is a stage or plugin that metadata belongs to: its place, and what users call it.
type group struct{ place, owner string }

// put adds values to in[name], after save has sent them as the control plane gets them. Control planes merge metadata,
// so that only new values are sent. A failed save changes nothing.
func (d *deployment) put(
	ctx context.Context,
	in map[string]map[string]string,
	name string,
	at group,
	added map[string]string,
	save func(context.Context, map[string]string) error,
) error {
	d.saving.Lock()
	defer d.saving.Unlock()
	closed := d.seals.close(at.place, added)
	if err := d.sizes.check(at.place, at.owner, closed); err != nil {
		return err
	}
	if d.scratch != nil {
		d.scratch.noteMetadata(len(added))
	} else if err := save(ctx, closed); err != nil {
		return err
	}
	d.sizes.note(at.place, closed)
	d.mu.Lock()
	defer d.mu.Unlock()
	merged := maps.Clone(in[name]) // a message to a plugin may be reading the old values
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, added)
	in[name] = merged
	return nil
}
