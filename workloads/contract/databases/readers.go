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

func (p postgres) count(ctx context.Context) (n int, err error) {
	err = p.conn.QueryRow(ctx, "select count(*) from devices").Scan(&n)
	return n, err
}

func (p postgres) find(ctx context.Context, id string) (d contract.Device, ok bool, err error) {
	row := p.conn.QueryRow(ctx, "select id::text, mac, firmware from devices where id = $1", id)
	err = row.Scan(&d.ID, &d.MAC, &d.Firmware)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, false, nil
	}
	return d, err == nil, err
}

func (p postgres) close(ctx context.Context) { _ = p.conn.Close(ctx) }

// mongoDB reads the collection of the contract.
type mongoDB struct{ devices *mongo.Collection }

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

func (m mongoDB) count(ctx context.Context) (int, error) {
	n, err := m.devices.CountDocuments(ctx, bson.D{})
	return int(n), err
}

// find takes a document with exactly the contract's keys.
func (m mongoDB) find(ctx context.Context, id string) (d contract.Device, ok bool, err error) {
	var document map[string]string
	err = m.devices.FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Decode(&document)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return d, false, nil
	}
	if err == nil && len(document) != 3 {
		err = errors.New("it has other keys than _id, mac and firmware")
	}
	return contract.Device{ID: document["_id"], MAC: document["mac"], Firmware: document["firmware"]}, err == nil, err
}

func (m mongoDB) close(ctx context.Context) { _ = m.devices.Database().Client().Disconnect(ctx) }
