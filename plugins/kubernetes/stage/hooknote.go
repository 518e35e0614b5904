// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"maps"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// hookNote is what a deployment remembers of the hooks of one moment at one deploy target. It survives the plugin and
// the stage, so that no hook runs twice.
type hookNote struct {
	// Done are the keys of the hooks that have succeeded.
	Done []string `json:"done,omitempty"`
	// Finished is set when all are done and those are deleted that are not to stay.
	Finished bool `json:"finished,omitempty"`
}

func (n hookNote) has(m manifest.Manifest) bool { return slices.Contains(n.Done, m.Key().String()) }

// rollbackRun begins the run of the hooks of a rollback.
const rollbackRun = "rollback-"

// runID identifies one run of the hooks of a moment. A stage for tests has its own run.
func (h *hooks) runID(m phase.Moment) string {
	id := string(m)
	if h.plan.Occasion == phase.Rollback {
		id = rollbackRun + id
	}
	if m == phase.Test {
		id += "-" + h.req.Stage.ID
	}
	return id
}

func (h *hooks) key(m phase.Moment) sdk.DeploymentKey[hookNote] {
	key := "hooks/" + h.runID(m)
	if target := h.req.Target.App.DeployTarget(); target != "" {
		key += "/" + target
	}
	return sdk.DeploymentKey[hookNote](key)
}

// mark notes in the hooks themselves which run they are of, so that another attempt recognises them.
func (h *hooks) mark(m phase.Moment, list []manifest.Manifest) {
	for _, one := range list {
		if !manifest.IsHook(one) {
			continue
		}
		annotations := maps.Clone(one.GetAnnotations())
		annotations[manifest.AnnotationHookRun] = h.req.Deployment.ID + "/" + h.runID(m)
		one.SetAnnotations(annotations)
	}
}

func (h *hooks) recall(ctx context.Context, m phase.Moment) (hookNote, error) {
	note, _, err := h.key(m).Get(ctx, h.req.Client)
	return note, err
}

// note adds hooks that have succeeded.
func (h *hooks) note(ctx context.Context, m phase.Moment, succeeded []manifest.Manifest) (hookNote, error) {
	note, err := h.recall(ctx, m)
	if err != nil {
		return note, err
	}
	for _, one := range succeeded {
		if manifest.IsHook(one) && !note.has(one) {
			note.Done = append(note.Done, one.Key().String())
		}
	}
	return note, h.key(m).Put(ctx, h.req.Client, note)
}

func (h *hooks) finish(ctx context.Context, m phase.Moment, note hookNote) error {
	note.Finished = true
	return h.key(m).Put(ctx, h.req.Client, note)
}
