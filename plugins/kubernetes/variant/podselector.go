// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// RouteService returns the Service that `service` refers to, or the first one, with the given variant in its selector.
// It has to select the primary in Git (PipeCD v1), or a sync would send traffic to every variant.
func RouteService(manifests []manifest.Manifest, app *config.Application, value string) (manifest.Manifest, error) {
	found, err := service(manifests, app.Service)
	if err != nil {
		return manifest.Manifest{}, fmt.Errorf("traffic is routed by the selector of a Service: %w", err)
	}
	if err := checkLabel(found, app.VariantLabel, "the selector", "spec", "selector"); err != nil {
		return manifest.Manifest{}, err
	}
	m := found.Clone()
	return m, unstructured.SetNestedField(m.Object, value, "spec", "selector", app.VariantLabel.Key)
}

// CheckSelectable reports whether the primary's pods can be distinguished from those of other variants, which a Service
// that routes traffic by its selector needs. Every workload that cannot is in the error.
func CheckSelectable(manifests []manifest.Manifest, app *config.Application) error {
	var errs []error
	for _, m := range Workloads(manifests, app.Workloads) {
		err := checkLabel(m, app.VariantLabel, "the selector", "spec", "selector", "matchLabels")
		if err == nil {
			err = checkLabel(m, app.VariantLabel, "the pods' labels", "spec", "template", "metadata", "labels")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%w; or set with.addVariantLabelToSelector: true (and "+
				"quickSync.addVariantLabelToSelector: true), or leave it out of `workloads`. The selector of a "+
				"Deployment that exists cannot be changed: it has to be deleted once, or to be renamed", err))
		}
	}
	return errors.Join(errs...)
}

// checkLabel looks for the primary's label in a map of the manifest.
func checkLabel(m manifest.Manifest, label config.VariantLabel, what string, path ...string) error {
	value, found, err := unstructured.NestedString(m.Object, append(path[:len(path):len(path)], label.Key)...)
	if err == nil && found && value == label.PrimaryValue {
		return nil
	}
	dotted := path[0]
	for _, field := range path[1:] {
		dotted += "." + field
	}
	return fmt.Errorf("%s: %s of %s must have %s: %s for traffic to be routed: write it into %s and commit it",
		m.Origin.At(dotted), what, m.Key().Human(), label.Key, label.PrimaryValue, dotted)
}
