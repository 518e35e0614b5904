// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Remove deletes the records of an application at a deploy target, and returns how many there were. Who may not list
// Secrets everywhere has those of the namespace deleted.
func Remove(ctx context.Context, c *cluster.Client, applicationID, target, namespace string) (deleted int, err error) {
	of := labels.Set{"owner": "helm", LabelApplication: applicationID}.String()
	resource := c.Metadata.Resource(secrets)
	found, err := resource.List(ctx, metav1.ListOptions{LabelSelector: of, Limit: maxRecords})
	if apierrors.IsForbidden(err) {
		found, err = resource.Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: of, Limit: maxRecords})
	}
	if apierrors.IsForbidden(err) {
		return 0, nil // nor could it have written any
	}
	if err != nil {
		return 0, fmt.Errorf("look for the records of releases: %w", err)
	}
	var errs []error
	for _, one := range found.Items {
		if manifest.IsElsewhere(one.Annotations, target) {
			continue
		}
		errs = append(errs, remove(ctx, c, one.Namespace, one.Name))
		deleted++
	}
	return deleted, errors.Join(errs...)
}
