// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// maxOwners bounds how far up owners are looked for.
const maxOwners = 8

// owners are the objects of an application by their ids.
type owners map[string]*object

func newOwners(objects []*object) owners {
	all := make(owners, len(objects))
	for _, o := range objects {
		all[string(o.live.GetUID())] = o
	}
	return all
}

// of is the owner of an object; nil for what was applied, and for what is not known.
func (all owners) of(o *object) *object {
	if len(o.parents) == 0 {
		return nil
	}
	return all[o.parents[0]]
}

// hook is the hook that has made an object, itself or by what it has made; nil for none.
func (all owners) hook(o *object) *unstructured.Unstructured {
	for range maxOwners {
		if o = all.of(o); o == nil {
			return nil
		}
		if o.parents == nil && hookState(o.live) != "" {
			return o.live
		}
	}
	return nil
}

// amend says of an object what only its owners show. A hook is no part of what runs, so neither are its pods; and a pod
// of a Job that has failed is not replaced.
func (all owners) amend(o *object, health sdk.HealthStatus, description string) (
	sdk.HealthStatus, string) {
	if all.failedJob(o) {
		description = podProblem(o.live) + "; its Job has failed, too"
	}
	if hook := all.hook(o); hook != nil {
		health = sdk.Healthy
		description = said("belongs to the hook "+hook.GetKind()+" "+hook.GetName(), description)
	}
	return health, shorten(description)
}

// failedJob reports whether an object is the failed pod of a Job that has failed.
func (all owners) failedJob(o *object) bool {
	owner := all.of(o)
	if owner == nil || owner.live.GetKind() != "Job" || !isReplaced(o.live) {
		return false
	}
	result, err := status.Compute(owner.live)
	return err == nil && result.Status == status.FailedStatus
}
