// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Request is the SDK's, for this plugin's configuration.
type Request = sdk.LivestateRequest[sdk.None, config.DeployTarget, config.Application]

// Get tells what runs of an application at its first deploy target, and how that differs from the source of the request.
func (s *Store) Get(ctx context.Context, req *Request) (*sdk.Livestate, error) {
	target := req.Targets[0] // PipeCD v1: only the first one is deployed to
	want, err := s.desired(ctx, req)
	if err != nil {
		return nil, err
	}
	c, err := s.connect(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("deploy target %s: %w", target.Name, err)
	}
	placed, err := c.placeAll(ctx, want)
	if err != nil {
		return nil, fmt.Errorf("deploy target %s: %w", target.Name, err)
	}
	objects := placed.objects(req.ApplicationID)
	d := &drift{dryRun: c.dryRun, verdicts: s.verdicts, source: req.Source, target: target.Name}
	if d.ignored, err = ignoreRules(req.Source.ConfigData); err != nil {
		return nil, fmt.Errorf("%s at commit %s: %w", req.Source.ConfigFilename, req.Source.CommitHash, err)
	}
	routed, err := routedFields(req.Source, want.manifests)
	if err != nil {
		return nil, fmt.Errorf("%s at commit %s: %w", req.Source.ConfigFilename, req.Source.CommitHash, err)
	}
	d.ignored = append(d.ignored, routed...)
	return &sdk.Livestate{Resources: resources(objects, target.Name), Sync: d.compare(ctx, placed.places, objects)}, nil
}

// wanted is what the application consists of at a commit: stamped, values of Secrets hashed.
type wanted struct{ manifests []manifest.Manifest }

// wantedKey holds all that the manifests depend on.
type wantedKey struct {
	piped, application, commit, file, target string
	config                                   [sha256.Size]byte
}

// desired loads what the last deployment has applied; a commit is loaded once.
func (s *Store) desired(ctx context.Context, req *Request) (*wanted, error) {
	key := wantedKey{
		piped: req.PipedID, application: req.ApplicationID, commit: req.Source.CommitHash, file: req.Source.ConfigFilename,
		target: req.Targets[0].Name, config: sha256.Sum256(req.Source.ConfigData),
	}
	if known, ok := s.wanted.get(key); ok {
		return known, nil
	}
	manifests, err := s.loader.LoadPrimary(ctx, req.Targets, req.Source)
	if err != nil {
		return nil, fmt.Errorf("load the manifests at commit %s: %w", req.Source.CommitHash, err)
	}
	label := req.Source.App.VariantLabel
	manifest.Stamp{
		PipedID: req.PipedID, ApplicationID: req.ApplicationID, CommitHash: req.Source.CommitHash,
		VariantKey: label.Key, Variant: label.PrimaryValue,
	}.Apply(manifests)
	for _, m := range manifests {
		s.masker.mask(m.Unstructured)
	}
	w := &wanted{manifests: manifests}
	s.wanted.put(key, w)
	return w, nil
}

// resources turns objects into what piped reports.
func resources(objects []*object, target string) []*model.ResourceState {
	states := make([]*model.ResourceState, 0, len(objects))
	for _, o := range objects {
		health, description := healthOf(o.live)
		states = append(states, &model.ResourceState{
			Id: string(o.live.GetUID()), ParentIds: o.parents, Name: o.live.GetName(), ResourceType: o.live.GetKind(),
			ResourceMetadata: map[string]string{
				"Namespace": o.live.GetNamespace(), "API Version": o.live.GetAPIVersion(), "Kind": o.live.GetKind(),
			},
			HealthStatus: health, HealthDescription: description, DeployTarget: target,
			CreatedAt: o.live.GetCreationTimestamp().Unix(),
		})
	}
	return states
}
