// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// checkNames refuses copies of a variant whose names objects have that are not part of that variant: applying would
// overwrite them, and cleaning the variant would delete them. (PipeCD v1 does both.)
func (v variantOf) checkNames(ctx context.Context, c *cluster.Client, copies []manifest.Manifest,
	named func(id string) string) error {
	if v.variant == v.label.PrimaryValue {
		return nil
	}
	var taken []error
	for _, m := range copies {
		mapping, err := c.Mapper.RESTMapping(m.GroupVersionKind().GroupKind(), m.GroupVersionKind().Version)
		if err != nil {
			continue // said when it is applied
		}
		objects, key := c.Metadata.Resource(mapping.Resource), m.Key()
		var live *metav1.PartialObjectMetadata
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			if key.Namespace == "" {
				key.Namespace = c.Namespace
			}
			live, err = objects.Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
		} else {
			live, err = objects.Get(ctx, key.Name, metav1.GetOptions{})
		}
		switch {
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
			continue
		case err != nil:
			return fmt.Errorf("look whether %s exists: %w", key.Human(), err)
		}
		if problem := v.foreign(live, m.GetAnnotations()[manifest.LabelApplication], named); problem != "" {
			taken = append(taken, fmt.Errorf("%s exists and is not part of the %s variant: %s", key.Human(), v.variant,
				problem))
		}
	}
	if len(taken) == 0 {
		return nil
	}
	return fmt.Errorf("%w\nnext step: rename it, or give the copies other names with the option suffix of the stage",
		errors.Join(taken...))
}

// foreign says what an object is part of; empty for the variant of the application.
func (v variantOf) foreign(live *metav1.PartialObjectMetadata, application string,
	named func(id string) string) string {
	marks := live.GetAnnotations()
	switch owner := marks[manifest.LabelApplication]; {
	case marks[manifest.LabelManagedBy] != manifest.ManagedByPiped || owner == "":
		return "piped has not created it"
	case owner != application:
		return "it belongs to the application " + named(owner)
	case marks[v.label.Key] != v.variant:
		return "it belongs to the " + marks[v.label.Key] + " of this application"
	}
	return ""
}
