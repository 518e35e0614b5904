// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package schema makes JSON Schemas of the configuration files, from the types that decode them and
// from the comments on their fields, for editors to complete and check with.
//
// A schema knows the keys, types, defaults and allowed values. What concerns several keys at once is
// left to pipedeck validate. Unlike there, an unknown key is a mistake: an editor has no other way to
// show it. The program in generate writes the schemas that are published in docs.
package schema
