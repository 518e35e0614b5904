// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/schema"
)

func schemaCases() []Case {
	return []Case{{
		ID: "schema.document", Capability: Schema, run: schemaDocument,
		Title: "the schema of its options is a JSON document with definitions",
		Why: "piped, editors and pipedeck validate cannot read it, so mistakes in options are found at the " +
			"deployment",
		Next: "answer GetSchema with a JSON Schema of draft 7 that has definitions",
	}, {
		ID: "schema.stages", Capability: Schema, run: schemaStages,
		Title: "the schema has stages that the plugin names",
		Why:   "pipedeck validate accepts a pipeline that piped refuses",
		Next:  "name in definitions.stages the stages of FetchDefinedStages alone",
	}, {
		ID: "schema.command", Capability: Schema, run: schemaCommand,
		Title: "PROGRAM schema prints the document that the process serves",
		Why:   "editors complete other options than piped accepts",
		Next:  "print and serve the same document",
	}, {
		ID: "schema.sources", Capability: Schema, run: sourceUse,
		Title: "what it says about the use of sources is about its own stages",
		Why:   "a stage gets no sources although it needs them",
		Next:  "name in GetSourceUse the stages of FetchDefinedStages alone",
	}}
}

func (p *probe) schema() ([]byte, error) {
	x, err := p.shared()
	if err != nil {
		return nil, err
	}
	ctx, cancel := p.limit()
	defer cancel()
	answer, err := schema.NewSchemaServiceClient(x.conn).GetSchema(ctx, &schema.GetSchemaRequest{})
	if status.Code(err) == codes.Unimplemented {
		return nil, skip("it serves no schema; its options are not checked before a deployment")
	}
	if err != nil {
		return nil, fmt.Errorf("GetSchema ended with %s", words(err))
	}
	return answer.GetJsonSchema(), nil
}

type schemaRoot struct {
	Definitions map[string]struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Additional json.RawMessage            `json:"additionalProperties"`
	} `json:"definitions"`
}

func definitions(p *probe) (*schemaRoot, error) {
	document, err := p.schema()
	if err != nil {
		return nil, err
	}
	var root schemaRoot
	if err := json.Unmarshal(document, &root); err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	return &root, nil
}

func schemaDocument(p *probe) error {
	root, err := definitions(p)
	if err != nil {
		return err
	}
	if len(root.Definitions) == 0 {
		return errors.New("the schema has no definitions")
	}
	return nil
}

func schemaStages(p *probe) error {
	root, err := definitions(p)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(root.Definitions["stages"].Properties) {
		if !slices.Contains(p.used.stages, name) {
			return fmt.Errorf("the schema has the stage %s, which FetchDefinedStages does not name", name)
		}
	}
	return nil
}

func schemaCommand(p *probe) error {
	served, err := p.schema()
	if err != nil {
		return err
	}
	process, ended, err := p.suite.try(p.ctx, p.suite.bounds.Start, "schema")
	switch {
	case err != nil:
		return err
	case !ended:
		return fmt.Errorf("PROGRAM schema goes on after %s", p.suite.bounds.Start)
	case process.err != nil:
		return fmt.Errorf("PROGRAM schema ended with %s", process.end())
	}
	var one, other bytes.Buffer
	if err := json.Compact(&one, served); err != nil {
		return fmt.Errorf("the schema is not JSON: %w", err)
	}
	if err := json.Compact(&other, []byte(process.output.text())); err != nil {
		return fmt.Errorf("what PROGRAM schema prints is not JSON: %w", err)
	}
	if !bytes.Equal(one.Bytes(), other.Bytes()) {
		return errors.New("PROGRAM schema prints another document than GetSchema answers")
	}
	return nil
}

func sourceUse(p *probe) error {
	x, err := p.shared()
	if err != nil {
		return err
	}
	ctx, cancel := p.limit()
	defer cancel()
	answer, err := deployment.NewSourceUseServiceClient(x.conn).GetSourceUse(ctx, &deployment.GetSourceUseRequest{})
	if status.Code(err) == codes.Unimplemented {
		return skip("it does not say; every stage gets both sources")
	}
	if err != nil {
		return fmt.Errorf("GetSourceUse ended with %s", words(err))
	}
	named := append(sortedKeys(answer.GetStages()), answer.GetOnce()...)
	if answer.GetRemoval() != "" {
		named = append(named, answer.GetRemoval())
	}
	for _, name := range named {
		if !slices.Contains(x.stages, name) {
			return fmt.Errorf("GetSourceUse names the stage %s, which FetchDefinedStages does not name", name)
		}
	}
	return nil
}
