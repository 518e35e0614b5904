// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func TestAConfigurationSaysWhereItsStateIs(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]Backend{
		``:                                       {},
		`required_version = ">= 1"`:              {},
		`backend "local" {}`:                     {Kind: "local"},
		`backend "local" { path = "/states/a" }`: {Kind: "local", Path: "/states/a"},
		`backend "local" { path = "here.tfstate" }`: {Kind: "local", Path: "here.tfstate"},
		`backend "local" { path = var.path }`:       {Kind: "local"},
		`backend "s3" { bucket = "b" }`:             {Kind: "s3"},
		`cloud {}`:                                  {Kind: "cloud"},
	} {
		got, err := BackendOf(written(t, map[string]string{"main.tf": "terraform {\n" + content + "\n}\n"}))
		require.NoError(t, err, content)
		require.Equal(t, want, got, content)
		require.Equal(t, want.Kind == "" || want.Kind == "local" && want.Path != "/states/a", got.Local(), content)
	}
	got, err := BackendOf(written(t, map[string]string{"a.tf.json": `{"terraform": {"backend": {"gcs": {}}}}`}))
	require.NoError(t, err)
	require.Equal(t, "gcs", got.Kind)
	_, err = BackendOf(written(t, map[string]string{"README.md": ""}))
	require.ErrorContains(t, err, "has no file of a configuration")
	_, err = BackendOf(written(t, map[string]string{"main.tf": "terraform {"}))
	require.ErrorContains(t, err, "read main.tf")
}

func TestVersionsAreThoseOfModulesAndProviders(t *testing.T) {
	t.Parallel()
	dir := written(t, map[string]string{"main.tf": `
terraform {
  required_providers { aws = { source = "hashicorp/aws", version = "~> 6.0" } }
}
module "network" {
  source  = "terraform-aws-modules/vpc/aws"
  version = "5.1.0"
}
module "git" { source = "git::https://example.com/vpc.git?ref=v1.2.0" }
module "own" { source = "./own" }
variable "password" { sensitive = true }
variable "name" {}
`})
	versions, err := Versions(dir)
	require.NoError(t, err)
	require.Equal(t, []Version{
		{Name: "git", Version: "v1.2.0", URL: "git::https://example.com/vpc.git?ref=v1.2.0"},
		{Name: "network", Version: "5.1.0", URL: "terraform-aws-modules/vpc/aws"},
		{Name: "hashicorp/aws", Version: "~> 6.0"},
	}, versions)
	names, err := Sensitive(dir)
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"password": true}, names)
}

func TestAMistakeIsShownWithItsPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte("\nresource \"a\" \"b\" {\n"), 0o600))
	_, err := Versions(dir)
	require.ErrorContains(t, err, "read the configuration: main.tf:2: Unclosed configuration block")
}
