// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resource_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/terraform/resource"
)

func TestTheModulesAroundAModuleAreFoundWhateverItsKeysHold(t *testing.T) {
	t.Parallel()
	require.Empty(t, resource.Ancestors(""))
	require.Equal(t, []string{"module.a"}, resource.Ancestors("module.a"))
	require.Equal(t, []string{"module.a", "module.a.module.b[0]"}, resource.Ancestors("module.a.module.b[0]"))
	require.Equal(t, []string{`module.a["x.module.y\"]"]`, `module.a["x.module.y\"]"].module.module`},
		resource.Ancestors(`module.a["x.module.y\"]"].module.module`))
}
