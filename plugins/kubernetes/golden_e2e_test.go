// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"flag"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/goldentest"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

// looked are the kinds that golden looks at, in the order of the files.
var looked = []schema.GroupVersionResource{configMaps, secrets, services, deployments, statefulSets}

var statefulSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}

// golden compares the application's objects in the cluster with testdata/golden/<name>.yaml. more are kinds that are
// looked at as well.
func (a *app) golden(name string, more ...schema.GroupVersionResource) {
	a.t.Helper()
	text := goldentest.Objects(a.t, a.live(), a.namespace, a.id, slices.Concat(looked, more)...)
	goldentest.Compare(a.t, name, text, *updateGolden)
}
