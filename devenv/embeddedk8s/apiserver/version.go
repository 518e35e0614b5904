// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"runtime/debug"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// Version is the Kubernetes release this program is made of, as in "v1.36.3". Kubernetes' own builds have it stamped in
// by linker flags; here it is the version of the module, so that no build can forget it. Charts and clients decide by
// it.
func Version() string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "k8s.io/kubernetes" {
				return module.Version
			}
		}
	}
	return version.Get().GitVersion
}

// namedVersion is an effective version that gives /version the release.
type namedVersion struct {
	compatibility.EffectiveVersion
}

func (v namedVersion) Info() *apimachineryversion.Info {
	info := v.EffectiveVersion.Info()
	if info != nil {
		info.GitVersion = Version()
	}
	return info
}

// showVersion makes each server of the chain answer /version with the release.
func showVersion(config *app.Config) {
	for _, generic := range []*compatibility.EffectiveVersion{
		&config.KubeAPIs.ControlPlane.Generic.EffectiveVersion,
		&config.ApiExtensions.GenericConfig.EffectiveVersion,
		&config.Aggregator.GenericConfig.EffectiveVersion,
	} {
		*generic = namedVersion{*generic}
	}
}
