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

// trafficKey is the plugin's metadata of a deployment that holds where its last stage for traffic has sent requests.
func trafficKey(app *config.Application) sdk.DeploymentKey[config.Traffic] {
	if target := app.DeployTarget(); target != "" {
		return sdk.DeploymentKey[config.Traffic]("routed-traffic/" + target)
	}
	return "routed-traffic"
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
	r, err := routeIn(loaded, s, traffic, e.pool.Namespace(req.Targets[0].Config))
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
	return h.around(ctx, client, func() error { return r.send(ctx, e, req, client, traffic) })
}

// send sends the traffic where it is to go, and notes that.
func (r routing) send(ctx context.Context, e *Executor, req *Request, c *cluster.Client,
	traffic config.Traffic) error {
	if _, err := r.move(ctx, e, req, c, traffic); err != nil {
		return err
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

// move moves the traffic, and notes where it goes for the stages that follow. It returns what the object that traffic
// is routed by refers to.
func (r routing) move(ctx context.Context, e *Executor, req *Request, c *cluster.Client,
	traffic config.Traffic) (needed []manifest.Key, err error) {
	if err := r.checkExtended(ctx, c); err != nil {
		return nil, err
	}
	if err := checkAnswered(ctx, req, c, r.backends); err != nil {
		return nil, err
	}
	r.sayLeft(req, traffic)
	req.Log.Infof("Routing traffic by %s: %s", r.name(), traffic)
	if needed, err = r.apply(ctx, e, req, c); err != nil {
		return nil, err
	}
	app := &req.Target.App
	if r.selected != "" {
		if err := routedKey(app).Put(ctx, req.Client, sdk.Text(r.selected)); err != nil {
			return nil, err
		}
	}
	return needed, trafficKey(app).Put(ctx, req.Client, traffic)
}

// apply applies what is added first, and deletes what is no longer needed last, so that nothing refers to an object
// that is not there. It returns what is added.
func (r routing) apply(ctx context.Context, e *Executor, req *Request, c *cluster.Client) (needed []manifest.Key,
	err error) {
	s := req.Target
	if len(r.added) > 0 {
		applied, err := e.apply(ctx, req, c, canaryOf(s), r.added)
		if err != nil {
			return nil, err
		}
		needed = liveKeys(applied)
	}
	if r.object.Unstructured != nil {
		applied, err := e.apply(ctx, req, c, primaryOf(s), []manifest.Manifest{r.object})
		if err == nil && s.App.TrafficRouting.Method == config.MethodGateway {
			err = awaitAccepted(ctx, req, applied[0])
		}
		if err != nil {
			return nil, err
		}
	}
	if !addsRoutes(s.App.TrafficRouting.Method) {
		return needed, nil
	}
	items, err := find(ctx, req, c, s, labels.Set{s.App.VariantLabel.Key: s.App.VariantLabel.CanaryValue})
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(inventory.Except(items, needed), func(i inventory.Item) bool {
		return !addedByRouting(i.Key)
	})
	if len(left) == 0 {
		return needed, nil
	}
	_, err = e.delete(ctx, req, c, left)
	return needed, err
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
	// extended is what the added objects add to, and has to be in the cluster; without an object nothing has to.
	extended manifest.Manifest
	// others are routes that lead to the Service, too, and stay as they are.
	others []manifest.Manifest
	// services are the names of the Services of primary, canary and baseline; empty where there is none.
	services [3]string
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

// sayLeft names the routes that lead to the Service, too, when a variant is to get requests.
func (r routing) sayLeft(req *Request, traffic config.Traffic) {
	if receives := traffic.Receives(); !receives[1] && !receives[2] {
		return
	}
	for _, m := range r.others {
		req.Log.Infof("Warning: %s sends requests to the same Service and stays as it is, because traffic is routed "+
			"by %s alone", m.Key().Human(), r.name())
	}
}

// checkExtended refuses to add to an object that is not there: no request would be routed.
func (r routing) checkExtended(ctx context.Context, c *cluster.Client) error {
	if r.extended.Unstructured == nil || len(r.added) == 0 {
		return nil
	}
	there, err := isThere(ctx, c, r.extended)
	if err != nil || there {
		return err
	}
	return fmt.Errorf("no traffic was moved: %s is not in the cluster, so %s would get nothing: deploy it before this "+
		"stage, such as by a quick sync", r.extended.Key().Human(), r.added[0].Key().Human())
}

// routeObject says how the traffic is routed.
func routeObject(manifests []manifest.Manifest, s *Source, traffic config.Traffic) (r routing, err error) {
	if r, err = routeBy(manifests, s, traffic); err == nil {
		r.others, err = variant.OtherRoutes(manifests, &s.App)
	}
	return r, err
}

func routeBy(manifests []manifest.Manifest, s *Source, traffic config.Traffic) (r routing, err error) {
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
		if err := subsets.Check(v.value); err != nil {
			return r, err
		}
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
		if err == nil {
			r.extended, err = variant.Ingress(manifests, &s.App)
		}
		if traffic.Receives()[1] {
			r.added = []manifest.Manifest{canary}
		}
	}
	if err != nil {
		return r, err
	}
	primary, err := variant.RouteService(manifests, &s.App, s.App.VariantLabel.PrimaryValue)
	if err != nil {
		return r, err
	}
	r.services = services.Names(primary.GetName())
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
			v.service.SetName(r.services[v.index])
		}
		r.backends = append(r.backends, v)
	}
	return r, nil
}
