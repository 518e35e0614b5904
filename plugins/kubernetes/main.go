// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

//go:embed schema.json
var optionsSchema []byte

func main() {
	helm.ServeIfChild()
	p := newPlugin()
	p.loader.RenderIn(helm.NewChildren(helm.Limits{}))
	sdk.Main(sdk.ForDeployment(p).WithSchema(optionsSchema))
}
