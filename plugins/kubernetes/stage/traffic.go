// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// routedKey is the plugin's metadata of a deployment that holds which variant the Service selects, at each deploy
// target.
func routedKey(app *config.Application) sdk.DeploymentKey[sdk.Text] {
	if target := app.DeployTarget(); target != "" {
		return sdk.DeploymentKey[sdk.Text]("routed-variant/" + target)
	}
	return "routed-variant"
}

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
	h, err := e.hooksOf(req, loaded)
	if err != nil {
		return err
	}
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	return h.around(ctx, client, func() error { return e.send(ctx, req, client, r, traffic) })
}

// send sends the traffic where it is to go, and notes that.
func (e *Executor) send(ctx context.Context, req *Request, c *cluster.Client, r routing, traffic config.Traffic) error {
	s := req.Target
	if err := checkAnswered(ctx, req, c, r.backends); err != nil {
		return err
	}
	req.Log.Infof("Routing traffic by %s: %s", r.name(), traffic)
	if err := r.apply(ctx, e, req, c); err != nil {
		return err
	}
	if r.selected != "" {
		if err := routedKey(&s.App).Put(ctx, req.Client, sdk.Text(r.selected)); err != nil {
			return err
		}
	}
	err := req.Client.PutMetadata(ctx, sdk.OfStage, map[string]string{
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

// apply applies what is added first, and deletes what is no longer needed last, so that nothing refers to an object
// that is not there.
func (r routing) apply(ctx context.Context, e *Executor, req *Request, c *cluster.Client) error {
	s := req.Target
	var needed []manifest.Key
	if len(r.added) > 0 {
		applied, err := e.apply(ctx, req, c, canaryOf(s), r.added)
		if err != nil {
			return err
		}
		needed = liveKeys(applied)
	}
	if r.object.Unstructured != nil {
		if _, err := e.apply(ctx, req, c, primaryOf(s), []manifest.Manifest{r.object}); err != nil {
			return err
		}
	}
	if !addsRoutes(s.App.TrafficRouting.Method) {
		return nil
	}
	items, err := e.find(ctx, req, c, s, labels.Set{s.App.VariantLabel.Key: s.App.VariantLabel.CanaryValue})
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(inventory.Except(items, needed), func(i inventory.Item) bool {
		return !addedByRouting(i.Key)
	})
	if len(left) == 0 {
		return nil
	}
	_, err = e.delete(ctx, req, c, left)
	return err
}

// routing is how traffic is sent to the variants.
type routing struct {
	// object is what has to be applied; without an object, the manifests stay as they are.
	object manifest.Manifest
	// added are objects next to those of the manifests, which go with the canary: those of a former stage that are not
	// among them are deleted.
	added []manifest.Manifest
	// selected is the variant that the object selects when it is a Service.
	selected string
	// backends are the variants that get traffic, as far as they can be known.
	backends []backend
}

// name is what the traffic is routed by.
func (r routing) name() string {
	switch {
	case r.object.Unstructured != nil:
		return r.object.Key().Human()
	case len(r.added) > 0:
		return r.added[0].Key().Human()
	}
	return "the Ingress alone, without a canary"
}

// routeObject says how the traffic is routed.
func routeObject(manifests []manifest.Manifest, s *Source, traffic config.Traffic) (r routing, err error) {
	switch s.App.TrafficRouting.Method {
	case config.MethodIstio:
		return routeIstio(manifests, s, traffic)
	case config.MethodGateway, config.MethodNginx, config.MethodTraefik:
		return routeServices(manifests, s, traffic)
	}
	if r.selected, err = s.App.Selected(traffic); err != nil {
		return r, err
	}
	if r.object, err = variant.RouteService(manifests, &s.App, r.selected); err != nil {
		return r, err
	}
	b, err := (backend{value: r.selected}).behind(r.object)
	r.backends = []backend{b}
	return r, err
}

func routeIstio(manifests []manifest.Manifest, s *Source, traffic config.Traffic) (r routing, err error) {
	if r.object, err = variant.RouteVirtualService(manifests, &s.App, traffic); err != nil {
		return r, err
	}
	subsets, err := variant.Subsets(manifests, &s.App)
	if err != nil {
		return r, err
	}
	for _, v := range receivers(s, traffic) {
		subset := subsets.Of(v.value)
		v.namespace, v.selector = subset.Namespace, subset.Selector
		r.backends = append(r.backends, v)
	}
	return r, nil
}

// routeServices says how the traffic is routed by what sends it to a Service of each variant.
func routeServices(manifests []manifest.Manifest, s *Source, traffic config.Traffic) (r routing, err error) {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return r, fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename, short(s.CommitHash), err)
	}
	services, err := config.ServicesOf(stages)
	if err != nil {
		return r, err
	}
	switch s.App.TrafficRouting.Method {
	case config.MethodGateway:
		r.object, err = variant.RouteGateway(manifests, &s.App, services, traffic)
	case config.MethodTraefik:
		r.object, r.added, err = variant.RouteTraefik(manifests, &s.App, services, traffic)
	case config.MethodNginx:
		var canary manifest.Manifest
		canary, err = variant.CanaryIngress(manifests, &s.App, services, traffic)
		if traffic.Receives()[1] {
			r.added = []manifest.Manifest{canary}
		}
	}
	if err != nil {
		return r, err
	}
	for _, v := range receivers(s, traffic) {
		service, err := variant.RouteService(manifests, &s.App, v.value)
		if err != nil {
			return r, err
		}
		if v, err = v.behind(service); err != nil {
			return r, err
		}
		if v.rollout != "" {
			v.service = service.Clone()
			v.service.SetName(services.Names(service.GetName())[v.index])
		}
		r.backends = append(r.backends, v)
	}
	return r, nil
}
