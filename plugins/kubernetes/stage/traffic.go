// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
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

var (
	pods     = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	services = schema.GroupVersionResource{Version: "v1", Resource: "services"}
)

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
	r, err := routeObject(loaded, s, traffic)
	if err != nil {
		return err
	}
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	if err := checkAnswered(ctx, client, r.backends); err != nil {
		return err
	}
	req.Log.Infof("Routing traffic by %s: %s", r.object.Key().Human(), traffic)
	if _, err := e.apply(ctx, req, client, s, s.App.VariantLabel.PrimaryValue, []manifest.Manifest{r.object}); err != nil {
		return err
	}
	if r.selected != "" {
		if err := req.Client.PutPluginMetadata(ctx, routedKey(&s.App), r.selected); err != nil {
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

// routing is how traffic is sent to the variants.
type routing struct {
	// object is what has to be applied.
	object manifest.Manifest
	// selected is the variant that the object selects when it is a Service.
	selected string
	// backends are the variants that have to be there, as far as they can be known.
	backends []backend
}

// backend is a variant that traffic is sent to.
type backend struct {
	// value is that of the variant label.
	value string
	// service selects the variant's pods; its name is that of the Service that is there, or has to be.
	service manifest.Manifest
	// stage makes the Service.
	stage string
}

// routeObject says how the traffic is routed.
func routeObject(manifests []manifest.Manifest, s *Source, traffic config.Traffic) (r routing, err error) {
	switch s.App.TrafficRouting.Method {
	case config.MethodIstio:
		r.object, err = variant.RouteVirtualService(manifests, &s.App, traffic)
		return r, err
	case config.MethodGateway:
		return routeGateway(manifests, s, traffic)
	}
	if r.selected, err = s.App.Selected(traffic); err != nil {
		return r, err
	}
	r.object, err = variant.RouteService(manifests, &s.App, r.selected)
	r.backends = []backend{{value: r.selected, service: r.object}}
	return r, err
}

func routeGateway(manifests []manifest.Manifest, s *Source, traffic config.Traffic) (r routing, err error) {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return r, fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename, short(s.CommitHash), err)
	}
	services, err := config.ServicesOf(stages)
	if err != nil {
		return r, err
	}
	if r.object, err = variant.RouteGateway(manifests, &s.App, services, traffic); err != nil {
		return r, err
	}
	label := s.App.VariantLabel
	for i, v := range []backend{{value: label.PrimaryValue}, {value: label.CanaryValue, stage: config.StageCanaryRollout}, {value: label.BaselineValue, stage: config.StageBaselineRollout}} {
		if []int{traffic.Primary, traffic.Canary, traffic.Baseline}[i] == 0 {
			continue
		}
		if v.service, err = variant.RouteService(manifests, &s.App, v.value); err != nil {
			return r, err
		}
		v.service.SetName(services.Names(v.service.GetName())[i])
		r.backends = append(r.backends, v)
	}
	return r, nil
}

// checkAnswered refuses to send traffic to where nobody answers.
func checkAnswered(ctx context.Context, c *cluster.Client, backends []backend) error {
	for _, b := range backends {
		if b.stage != "" {
			if err := checkService(ctx, c, b); err != nil {
				return err
			}
		}
		if err := checkPods(ctx, c, b.service, b.value); err != nil {
			return err
		}
	}
	return nil
}

// checkService looks for the Service that a stage makes for a variant.
func checkService(ctx context.Context, c *cluster.Client, b backend) error {
	_, err := c.Metadata.Resource(services).Namespace(cmp.Or(b.service.GetNamespace(), c.Namespace)).Get(ctx, b.service.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return nil
	case apierrors.IsNotFound(err):
		return fmt.Errorf("no traffic was moved: there is no %s: roll the %s variant out with createService: true before this stage (%s)", b.service.Key().Human(), b.value, b.stage)
	case err != nil:
		return fmt.Errorf("look for %s: %w", b.service.Key().Human(), err)
	}
	return nil
}

// checkPods looks for a pod that a Service sends traffic to.
func checkPods(ctx context.Context, c *cluster.Client, service manifest.Manifest, value string) error {
	selector, _, err := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if err != nil {
		return fmt.Errorf("%s: spec.selector of %s: %w", service.Origin.At("spec.selector"), service.Key().Human(), err)
	}
	found, err := c.Metadata.Resource(pods).Namespace(cmp.Or(service.GetNamespace(), c.Namespace)).List(ctx, metav1.ListOptions{LabelSelector: labels.Set(selector).String(), Limit: 1})
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
