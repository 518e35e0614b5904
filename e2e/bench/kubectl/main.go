// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command kubectl is Kubernetes' own kubectl, compiled here so that figures can be compared with it on any machine. It
// is a separate module: nothing that is shipped depends on it.
package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	util.CheckErr(cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()))
}
