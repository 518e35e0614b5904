// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
)

// judgedKey is an object in one version.
type judgedKey struct {
	uid     types.UID
	version string
}

// judgement is what a rule has said of an object.
type judgement struct {
	verdict health.Verdict
	judged  bool
}

// rules are those of the configuration, with what they have said last.
type rules struct {
	*health.Rules
	judged *memory[judgedKey, judgement]
}

// healthOf judges one object by the rule for its kind, or without one. The rule is asked once for each version of the
// object. What is being deleted, and a hook, are judged without a rule.
func (r rules) healthOf(ctx context.Context, o *unstructured.Unstructured) (model.ResourceState_HealthStatus, string) {
	if !r.Judges(o.GroupVersionKind().GroupKind()) || o.GetDeletionTimestamp() != nil || hookState(o) != "" {
		return healthOf(o)
	}
	key := judgedKey{uid: o.GetUID(), version: o.GetResourceVersion()}
	last, known := r.judged.get(key)
	if !known {
		last.verdict, last.judged = r.Judge(ctx, o)
		if ctx.Err() == nil {
			r.judged.put(key, last)
		}
	}
	if !last.judged {
		return healthOf(o)
	}
	verdict := last.verdict
	switch {
	case verdict.Err != nil:
		return model.ResourceState_UNKNOWN, shorten(verdict.String())
	case verdict.Status == health.Healthy, verdict.Status == health.Suspended:
		return model.ResourceState_HEALTHY, shorten(verdict.Message)
	case verdict.Status == health.Unknown:
		return model.ResourceState_UNKNOWN, shorten(said("its health is "+string(verdict.Status), verdict.Message))
	}
	return model.ResourceState_UNHEALTHY, shorten(said("its health is "+string(verdict.Status), verdict.Message))
}
