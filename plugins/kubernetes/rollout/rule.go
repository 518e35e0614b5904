// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
)

// lookByRule judges a workload by the rule for its kind. judged is false when there is none, when the rule leaves the
// workload open, and while the workload is being deleted.
func (t *tracker) lookByRule(ctx context.Context, live *unstructured.Unstructured) (done, judged bool) {
	if live.GetDeletionTimestamp() != nil {
		return false, false
	}
	verdict, judged := t.rules.Judge(ctx, live)
	before := t.verdict
	t.verdict = nil
	switch {
	case !judged:
		return false, false
	case verdict.Status == health.Healthy:
		t.log.Successf("%s: %s", t.name(), verdict)
		return true, true
	case verdict.Status == health.Suspended:
		t.log.Infof("%s: %s: not waited for", t.name(), verdict)
		return true, true
	case verdict.Err != nil, verdict.Status == health.Degraded:
		// The status may be that of the former version, or not be written yet: it has the grace of a crash.
		// A verdict counts from its beginning, and so does a failure of the rule, which is no verdict.
		t.verdict = &problem{class: classHealth, container: string(verdict.Status), text: verdict.String(), ripe: true,
			since: time.Now()}
		if before != nil && before.container == t.verdict.container {
			t.verdict.since = before.since
		}
	}
	t.note(verdict.String())
	return false, true
}
