// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// routedKey is the plugin's metadata of a deployment that holds which variant the Service selects, at each deploy target.
func routedKey(app *config.Application) string {
	if target := app.DeployTarget(); target != "" {
		return "routed-variant/" + target
	}
	return "routed-variant"
}

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// route sends shares of the traffic to the variants.
func (e *Executor) route(ctx context.Context, req *Request) error {
	traffic, err := config.DecodeTraffic(req.Options)
	if err != nil {
		return err
	}
	s := req.Target
	loaded, err := e.load(ctx, req, s)
	if err != nil {
		return err
	}
	routed, value, err := routeObject(loaded, s, traffic)
	if err != nil {
		return err
	}
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	if value != "" {
		if err := checkPods(ctx, client, routed, value); err != nil {
			return err
		}
	}
	req.Log.Infof("Routing traffic by %s: %s", routed.Key().Human(), traffic)
	if _, err := e.apply(ctx, req, client, s, s.App.VariantLabel.PrimaryValue, []manifest.Manifest{routed}); err != nil {
		return err
	}
	if value != "" {
		if err := req.Client.PutPluginMetadata(ctx, routedKey(&s.App), value); err != nil {
			return err
		}
	}
	err = req.Client.PutStageMetadataMulti(ctx, map[string]string{
		"primary-percentage":   strconv.Itoa(traffic.Primary),
		"canary-percentage":    strconv.Itoa(traffic.Canary),
		"baseline-percentage":  strconv.Itoa(traffic.Baseline),
		sdk.DisplayMetadataKey: traffic.String(),
	})
	if err != nil {
		return err
	}
	req.Log.Successf("Traffic is routed: %s", traffic)
	return nil
}

// routeObject gives the object that routes the traffic; value is the variant that it selects when it is a Service.
func routeObject(manifests []manifest.Manifest, s *Source, traffic config.Traffic) (routed manifest.Manifest, value string, err error) {
	if s.App.TrafficRouting.Method == config.MethodIstio {
		routed, err = variant.RouteVirtualService(manifests, &s.App, traffic)
		return routed, "", err
	}
	if value, err = selected(traffic, s.App.VariantLabel); err != nil {
		return routed, "", err
	}
	routed, err = variant.RouteService(manifests, &s.App, value)
	return routed, value, err
}

// selected is the one variant that a Service can select.
func selected(traffic config.Traffic, label config.VariantLabel) (string, error) {
	switch {
	case traffic.Primary == 100:
		return label.PrimaryValue, nil
	case traffic.Canary == 100:
		return label.CanaryValue, nil
	}
	return "", fmt.Errorf("%s: the selector of a Service can send all traffic to the primary or all to the canary, not %s: set with.all to primary or canary, or trafficRouting.method: %s",
		config.StageTrafficRouting, traffic, config.MethodIstio)
}

// checkPods refuses to send traffic to where nobody answers.
func checkPods(ctx context.Context, c *cluster.Client, service manifest.Manifest, value string) error {
	selector, _, err := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if err != nil {
		return fmt.Errorf("%s: spec.selector of %s: %w", service.Origin.At("spec.selector"), service.Key().Human(), err)
	}
	namespace := service.GetNamespace()
	if namespace == "" {
		namespace = c.Namespace
	}
	found, err := c.Metadata.Resource(pods).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.Set(selector).String(), Limit: 1})
	switch {
	case apierrors.IsForbidden(err): // what may not be looked at may well be there
		return nil
	case err != nil:
		return fmt.Errorf("look for the pods that %s would send traffic to: %w", service.Key().Human(), err)
	case len(found.Items) == 0:
		return fmt.Errorf("no traffic was moved: there is no pod with the labels %s, so nobody would answer: roll the %s variant out before this stage, and check the pods' labels",
			labels.Set(selector), value)
	}
	return nil
}
