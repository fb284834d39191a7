package databases

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/millicore/millicore/workloads/contract"
)

// postgres reads the table of the contract.
type postgres struct{ conn *pgx.Conn }

func openPostgres(ctx context.Context, url string) (reader, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	return postgres{conn}, nil
}

func (p postgres) devices(ctx context.Context) ([]contract.Device, error) {
	rows, err := p.conn.Query(ctx, "select id::text, mac, firmware from devices")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[contract.Device])
}

func (p postgres) close(ctx context.Context) { _ = p.conn.Close(ctx) }

// mongoDB reads the collection of the contract.
type mongoDB struct{ collection *mongo.Collection }

func openMongoDB(_ context.Context, url string) (reader, error) {
	parsed, err := connstring.ParseAndValidate(url)
	if err != nil {
		return nil, err
	}
	client, err := mongo.Connect(options.Client().ApplyURI(url))
	if err != nil {
		return nil, err
	}
	return mongoDB{client.Database(parsed.Database).Collection("devices")}, nil
}

// devices takes documents with exactly the contract's keys.
func (m mongoDB) devices(ctx context.Context) ([]contract.Device, error) {
	cursor, err := m.collection.Find(ctx, bson.D{})
	if err != nil {
		return nil, err
	}
	var documents []map[string]string
	if err := cursor.All(ctx, &documents); err != nil {
		return nil, err
	}
	var all []contract.Device
	for _, d := range documents {
		if len(d) != 3 {
			return nil, errors.New("a document has other keys than _id, mac and firmware")
		}
		all = append(all, contract.Device{ID: d["_id"], MAC: d["mac"], Firmware: d["firmware"]})
	}
	return all, nil
}

func (m mongoDB) close(ctx context.Context) { _ = m.collection.Database().Client().Disconnect(ctx) }
