// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// acceptTimeout bounds the wait until gateways have judged a change of a route.
	acceptTimeout = 30 * time.Second
	// reportTimeout bounds the wait for a first report on a route that is new.
	reportTimeout = 5 * time.Second
)

// awaitAccepted waits until the gateways have judged a route of the Gateway API as it was applied. One that none of
// them accepts routes nothing. Where none reports anything, or not in time, a line says that it is not known.
func awaitAccepted(ctx context.Context, req *Request, a apply.Applied) error {
	name := manifest.KeyOf(a.Live).Human()
	generation := a.Live.GetGeneration()
	last := acceptanceOf(a.Live, generation)
	timeout := min(acceptTimeout, req.Target.App.Input.RolloutTimeout.Std())
	if last.unknown() {
		timeout = min(reportTimeout, timeout)
	}
	if !last.judged() && (!last.unknown() || generation == 1) { // an older route has had the time for a first report
		waiting, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		err := cluster.Follow(waiting, a.Resource, cluster.Named(a.Live.GetName()),
			func(found []*unstructured.Unstructured) (bool, error) {
				if len(found) == 0 {
					return true, fmt.Errorf("%s was deleted while its gateways were to accept it", name)
				}
				last = acceptanceOf(found[0], generation)
				return last.judged(), nil
			})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && waiting.Err() == nil && !apierrors.IsForbidden(err):
			return fmt.Errorf("wait until %s is accepted: %w", name, err)
		}
	}
	return last.report(req, name)
}

// acceptance is what the gateways of a route report.
type acceptance struct {
	accepted, pending int
	// refused has the reasons of those that do not accept the route, or did not before its last change.
	refused []string
	// unresolved has the reasons of those to which the route refers to something that is not there, or not allowed.
	unresolved []string
}

func (a acceptance) unknown() bool { return a.accepted+a.pending+len(a.refused) == 0 }

func (a acceptance) judged() bool { return !a.unknown() && a.pending == 0 }

// report fails when no gateway accepts the route, and says what else a user has to know.
func (a acceptance) report(req *Request, name string) error {
	reasons := strings.Join(a.refused, "; ")
	if len(a.unresolved) > 0 {
		req.Log.Infof("Warning: %s refers to something that its Gateway cannot use, and requests for that fail: %s\n"+
			"next step: compare the backendRefs of the route with the Services and ReferenceGrants of their namespaces",
			name, strings.Join(a.unresolved, "; "))
	}
	switch {
	case a.unknown():
		req.Log.Infof("Warning: no Gateway reports that it has accepted %s, so it is not known whether requests are "+
			"routed by it: see its spec.parentRefs", name)
	case len(a.refused) > 0 && a.accepted == 0:
		return fmt.Errorf("no request is routed by %s, because it is not accepted: %s: fix the route or its Gateway, "+
			"and deploy again", name, reasons)
	case len(a.refused) > 0:
		req.Log.Infof("Warning: %s is not accepted everywhere: %s", name, reasons)
	case a.pending > 0:
		req.Log.Infof("Warning: the Gateway of %s has not reported about its last change within %s, so requests may "+
			"be routed as before", name, acceptTimeout)
	}
	return nil
}

// acceptanceOf reads the conditions of a route, which are about its generation or a former one.
func acceptanceOf(route *unstructured.Unstructured, generation int64) (a acceptance) {
	parents, _, _ := unstructured.NestedSlice(route.Object, "status", "parents")
	for _, item := range parents {
		parent, _ := item.(map[string]any)
		conditions, _ := parent["conditions"].([]any)
		for _, item := range conditions {
			condition, _ := item.(map[string]any)
			observed, given := condition["observedGeneration"].(int64)
			if condition["type"] == "ResolvedRefs" && condition["status"] == "False" &&
				(!given || observed >= generation) {
				a.unresolved = append(a.unresolved, refusal(parent, condition))
			}
			if condition["type"] != "Accepted" {
				continue
			}
			if given && observed < generation {
				a.pending++
			}
			if condition["status"] == "False" {
				a.refused = append(a.refused, refusal(parent, condition))
			} else if !given || observed >= generation {
				a.accepted++
			}
		}
	}
	return a
}

// refusal is why a parent does not take a route as it is, in its own words.
func refusal(parent, condition map[string]any) string {
	ref, _ := parent["parentRef"].(map[string]any)
	kind, _ := ref["kind"].(string)
	name, _ := ref["name"].(string)
	reason, _ := condition["reason"].(string)
	message, _ := condition["message"].(string)
	return fmt.Sprintf("%s %s: %s: %s", cmp.Or(kind, "Gateway"), name, reason, message)
}
