// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package config has the options of the plugin terraform, with PipeCD's names where PipeCD has them. Only the plugin
// imports it.
package config
