// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// takeTraffic moves what traffic a variant still gets to the primary, so that the variant can be removed: no request is
// to go where no one answers. It returns the objects that the traffic of the others needs. (PipeCD v1 removes the
// variant in any case.)
func takeTraffic(ctx context.Context, e *Executor, req *Request, c *cluster.Client,
	value string) ([]manifest.Key, error) {
	s := req.Target
	last, err := lastTrafficStage(s)
	if err != nil || last < 0 {
		return nil, err // what shares the traffic out is not ours
	}
	noted, err := notedTraffic(ctx, req)
	if err != nil {
		return nil, err
	}
	index := variantIndex(&s.App, value)
	traffic := noted.Without(index)
	loaded, err := e.load(ctx, req, s)
	if err != nil {
		return nil, err
	}
	r, err := routeIn(loaded, s, traffic, c.Namespace)
	if err != nil {
		return nil, fmt.Errorf("find out whether the %s variant still gets traffic: %w", value, err)
	}
	if r.object.Unstructured == nil {
		return r.addedKeys(c), nil // the canary Ingress is deleted before what it leads to
	}
	gets := noted.Receives()[index]
	if !gets {
		if gets, err = r.reaches(ctx, c, s, value, index); err != nil {
			return nil, err
		}
	}
	if !gets {
		return r.addedKeys(c), nil
	}
	req.Log.Infof("The %s variant still gets traffic: moving that to the primary before it is removed", value)
	return r.move(ctx, e, req, c, traffic)
}

// notedTraffic is where the last stage for traffic of the deployment has sent requests; all to the primary before there
// was one.
func notedTraffic(ctx context.Context, req *Request) (config.Traffic, error) {
	noted, found, err := trafficKey(&req.Target.App).Get(ctx, req.Client)
	switch {
	case err != nil:
		return noted, fmt.Errorf("read where the last %s of this deployment has sent the traffic: %w",
			wordFor(req, config.StageTrafficRouting), err)
	case !found:
		return config.Traffic{Primary: 100}, nil
	}
	return noted, nil
}

// variantIndex is the position of a variant among primary, canary and baseline.
func variantIndex(app *config.Application, value string) int {
	if value == app.VariantLabel.BaselineValue {
		return 2
	}
	return 1
}

// reaches reports whether what routes the traffic in the cluster sends any to a variant.
func (r routing) reaches(ctx context.Context, c *cluster.Client, s *Source, value string, index int) (bool, error) {
	live, err := r.live(ctx, c)
	if live == nil || err != nil {
		return false, err
	}
	return variant.Reaches(live, &s.App, value, r.services[index]), nil
}

// live returns the object that traffic is routed by as it is in the cluster; nil when it is not there or may not be
// read.
func (r routing) live(ctx context.Context, c *cluster.Client) (*unstructured.Unstructured, error) {
	gvk := r.object.GroupVersionKind()
	mapping, err := c.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", r.name(), err)
	}
	live, err := c.Dynamic.Resource(mapping.Resource).Namespace(cmp.Or(r.object.GetNamespace(), c.Namespace)).Get(ctx,
		r.object.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for %s: %w", r.name(), err)
	}
	return live, nil
}

// addedKeys are the objects that are added, with their namespace.
func (r routing) addedKeys(c *cluster.Client) []manifest.Key {
	var keys []manifest.Key
	for _, m := range r.added {
		key := m.Key()
		key.Namespace = cmp.Or(key.Namespace, c.Namespace)
		keys = append(keys, key)
	}
	return keys
}
