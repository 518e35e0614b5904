// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// judgement is what a rule has said of an object.
type judgement struct {
	verdict health.Verdict
	judged  bool
}

// rules are those of the configuration, with what they have said last.
type rules struct {
	*health.Rules
	judged *memory[revision, judgement]
}

// judge says how the objects of a cluster are. cluster is nil where nothing more can be asked of it.
type judge struct {
	rules
	cluster *watched
}

// healthOf judges one object by the rule for its kind, or without one. The rule is asked once for each version of the
// object. What is being deleted, and a hook, are judged without a rule.
func (j judge) healthOf(ctx context.Context, o *unstructured.Unstructured) (sdk.HealthStatus, string) {
	if !j.Judges(o.GroupVersionKind().GroupKind()) || o.GetDeletionTimestamp() != nil || hookState(o) != "" {
		return healthOf(o, j.cluster.eventOf(ctx, o))
	}
	key := revisionOf(o)
	last, known := j.judged.get(key)
	if !known {
		last.verdict, last.judged = j.Judge(ctx, o)
		if ctx.Err() == nil {
			j.judged.put(key, last)
		}
	}
	if !last.judged {
		return healthOf(o, j.cluster.eventOf(ctx, o))
	}
	verdict := last.verdict
	switch {
	case verdict.Err != nil:
		return sdk.HealthUnknown, shorten(verdict.String())
	case verdict.Status == health.Healthy, verdict.Status == health.Suspended:
		return sdk.Healthy, shorten(verdict.Message)
	case verdict.Status == health.Unknown:
		return sdk.HealthUnknown, shorten(said("its health is "+string(verdict.Status), verdict.Message))
	}
	return sdk.Unhealthy, shorten(said("its health is "+string(verdict.Status), verdict.Message))
}
