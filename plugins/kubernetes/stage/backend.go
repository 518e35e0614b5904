// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

var (
	pods     = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	services = schema.GroupVersionResource{Version: "v1", Resource: "services"}
)

// backend is a variant that traffic is sent to.
type backend struct {
	// value is that of the variant label; index is its position among primary, canary and baseline.
	value string
	index int
	// rollout is the stage that creates the variant; empty for the primary.
	rollout string
	// selector selects the pods that would answer, in the namespace; nil when they cannot be known.
	selector  labels.Selector
	namespace string
	// service has to be in the cluster; without an object none has to.
	service manifest.Manifest
}

// receivers are the variants that get requests: by a share, by matches or as copies.
func receivers(s *Source, traffic config.Traffic) []backend {
	label := s.App.VariantLabel
	receives := traffic.Receives()
	var found []backend
	for i, b := range []backend{
		{value: label.PrimaryValue},
		{value: label.CanaryValue, rollout: config.StageCanaryRollout},
		{value: label.BaselineValue, rollout: config.StageBaselineRollout},
	} {
		if b.index = i; receives[i] {
			found = append(found, b)
		}
	}
	return found
}

// behind gives the backend the pods that a Service selects.
func (b backend) behind(service manifest.Manifest) (backend, error) {
	selector, _, err := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if err != nil {
		return b, fmt.Errorf("%s: spec.selector of %s: %w", service.Origin.At("spec.selector"), service.Key().Human(),
			err)
	}
	b.selector, b.namespace = labels.SelectorFromSet(selector), service.GetNamespace()
	return b, nil
}

// checkAnswered refuses to send traffic to where no pod answers.
func checkAnswered(ctx context.Context, req *Request, c *cluster.Client, backends []backend) error {
	for _, b := range backends {
		if err := checkService(ctx, c, b); err != nil {
			return err
		}
		if b.selector == nil || b.selector.Empty() {
			continue
		}
		if err := awaitReadyPod(ctx, req, c, b); err != nil {
			return err
		}
	}
	return nil
}

// checkService looks for the Service that a stage creates for a variant.
func checkService(ctx context.Context, c *cluster.Client, b backend) error {
	if b.service.Unstructured == nil {
		return nil
	}
	name := b.service.Key().Human()
	_, err := c.Metadata.Resource(services).Namespace(cmp.Or(b.service.GetNamespace(), c.Namespace)).Get(ctx,
		b.service.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return nil
	case apierrors.IsNotFound(err):
		return fmt.Errorf("no traffic was moved: there is no %s: roll the %s variant out with createService: true "+
			"before this stage (%s)", name, b.value, b.rollout)
	case err != nil:
		return fmt.Errorf("look for %s: %w", name, err)
	}
	return nil
}

var errNoPods = errors.New("no pods")

// awaitReadyPod waits until a pod that would get traffic is ready, at most as long as for a rollout. Without any pod
// there is nothing to wait for, unless the rollout did not wait for its pods.
func awaitReadyPod(ctx context.Context, req *Request, c *cluster.Client, b backend) error {
	timeout := req.Target.App.Input.RolloutTimeout.Std()
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	mayCome, seen := !req.Target.App.Input.WaitsReady(), false
	err := cluster.Follow(waiting, c.Resource(pods, cmp.Or(b.namespace, c.Namespace)),
		metav1.ListOptions{LabelSelector: b.selector.String()}, func(found []*unstructured.Unstructured) (bool, error) {
			staying := 0
			for _, pod := range found {
				if pod.GetDeletionTimestamp() != nil {
					continue
				}
				if staying++; isReady(pod) {
					return true, nil
				}
			}
			if staying == 0 && !mayCome {
				return true, errNoPods
			}
			if !seen {
				req.Log.Infof("No pod with the labels %s is ready: waiting for one before traffic is moved, at most %s",
					b.selector, timeout)
			}
			seen = true
			return false, nil
		})
	switch {
	case err == nil, apierrors.IsForbidden(err) && !seen: // what may not be looked at may well be there
		return nil
	case errors.Is(err, errNoPods):
		return fmt.Errorf("no traffic was moved: there is no pod with the labels %s, so no one would answer: roll "+
			"the %s variant out before this stage, and check the pods' labels",
			b.selector, b.value)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case waiting.Err() != nil:
		return fmt.Errorf("no traffic was moved: no pod with the labels %s is ready after %s "+
			"(input.rolloutTimeout), so no one would answer: see why the pods of the %s variant are not ready",
			b.selector, timeout.Round(time.Second), b.value)
	}
	return fmt.Errorf("look for the pods of the %s variant with the labels %s: %w", b.value, b.selector, err)
}

func isReady(pod *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(pod.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Ready" && c["status"] == "True" {
			return true
		}
	}
	return false
}
